#include "loops/proximal.hpp"
#include "learner/rule_learner.hpp"
#include "registry/learners.hpp"

namespace yarrow {

YARROW_PROXIMAL(YARROW_COMPILE_LOOP)

}  // namespace yarrow
