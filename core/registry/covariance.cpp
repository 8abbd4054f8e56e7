#include "learner/rule_learner.hpp"
#include "loops/factored.hpp"
#include "loops/full.hpp"
#include "loops/joint.hpp"
#include "registry/learners.hpp"

namespace yarrow {

YARROW_COVARIANCE(YARROW_COMPILE_LOOP)

}  // namespace yarrow
