#pragma once
#include <memory>

#include "registry/learner_list.hpp"

namespace yarrow {

/// The learner of the recipe's kind.
template <class W>
std::unique_ptr<Learner<W>> make_learner(const Recipe& recipe) {
  switch (recipe.kind) {
#define YARROW_MAKE(name, ...) \
  case LearnerKind::name:      \
    return make_##name<W>(recipe);
    YARROW_LEARNERS(YARROW_MAKE)
#undef YARROW_MAKE
  }
  throw Error("unknown learner");
}

}  // namespace yarrow
