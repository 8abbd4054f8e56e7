#include "mixture/yarrow_learner.hpp"
#include "mixture/yarrow_regressor.hpp"
#include "registry/learners.hpp"

namespace yarrow {

YARROW_MIXTURES(YARROW_COMPILE)

}  // namespace yarrow
