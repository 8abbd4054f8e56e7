#include "learner/rule_learner.hpp"
#include "loops/affine.hpp"
#include "loops/elastic.hpp"
#include "loops/grouped.hpp"
#include "loops/l1_constrained.hpp"
#include "loops/mirror.hpp"
#include "loops/proximal.hpp"
#include "loops/selection.hpp"
#include "loops/voted.hpp"
#include "registry/learners.hpp"

namespace yarrow {

YARROW_WEIGHTS(YARROW_COMPILE_LOOP)

}  // namespace yarrow
