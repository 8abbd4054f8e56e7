#pragma once
#include <memory>

#include "learner/rule_learner.hpp"
#include "loops/affine.hpp"
#include "loops/confidence.hpp"
#include "loops/elastic.hpp"
#include "loops/factored.hpp"
#include "loops/forgetting.hpp"
#include "loops/full.hpp"
#include "loops/grouped.hpp"
#include "loops/joint.hpp"
#include "loops/l1_constrained.hpp"
#include "loops/mirror.hpp"
#include "loops/proximal.hpp"
#include "loops/selection.hpp"
#include "loops/voted.hpp"
#include "mixture/yarrow_learner.hpp"
#include "mixture/yarrow_regressor.hpp"

namespace yarrow {

/// The learner that runs the recipe's loop.
template <class W>
std::unique_ptr<Learner<W>> make_learner(const Recipe& recipe) {
  switch (recipe.loop) {
#define YARROW_MAKE(name, ...) \
  case LoopKind::name:         \
    return std::make_unique<__VA_ARGS__>(recipe);
    YARROW_LOOPS(YARROW_MAKE)
#undef YARROW_MAKE
  }
  throw Error("unknown loop");
}

}  // namespace yarrow
