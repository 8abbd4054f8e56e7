#include "loops/confidence.hpp"
#include "learner/rule_learner.hpp"
#include "loops/forgetting.hpp"
#include "registry/learners.hpp"

namespace yarrow {

YARROW_CONFIDENCE(YARROW_COMPILE_LOOP)

}  // namespace yarrow
