#include "loops/affine.hpp"
#include "learner/rule_learner.hpp"
#include "loops/elastic.hpp"
#include "loops/l1_constrained.hpp"
#include "loops/mirror.hpp"
#include "loops/voted.hpp"
#include "registry/learners.hpp"

namespace yarrow {

YARROW_AFFINE(YARROW_COMPILE_LOOP)

}  // namespace yarrow
