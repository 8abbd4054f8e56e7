#include "loops/confidence.hpp"
#include "learner/rule_learner.hpp"
#include "loops/forgetting.hpp"
#include "registry/learner_list.hpp"

namespace yarrow {

YARROW_CONFIDENCE(YARROW_COMPILE_LOOP)

}  // namespace yarrow
