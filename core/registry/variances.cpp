#include "learner/rule_learner.hpp"
#include "loops/confidence.hpp"
#include "loops/factored.hpp"
#include "loops/forgetting.hpp"
#include "loops/full.hpp"
#include "loops/joint.hpp"
#include "loops/selection.hpp"
#include "registry/learners.hpp"

namespace yarrow {

YARROW_VARIANCES(YARROW_COMPILE_LOOP)

}  // namespace yarrow
