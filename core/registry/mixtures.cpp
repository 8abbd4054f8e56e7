#include "mixture/yarrow_learner.hpp"
#include "mixture/yarrow_regressor.hpp"
#include "registry/learner_list.hpp"

namespace yarrow {

YARROW_MIXTURES(YARROW_COMPILE)

}  // namespace yarrow
