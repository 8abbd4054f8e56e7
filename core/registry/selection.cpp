#include "loops/selection.hpp"
#include "learner/rule_learner.hpp"
#include "loops/grouped.hpp"
#include "registry/learners.hpp"

namespace yarrow {

YARROW_SELECTION(YARROW_COMPILE_LOOP)

}  // namespace yarrow
