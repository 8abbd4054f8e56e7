#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "data/vocabulary.hpp"

namespace yarrow {

/// Which features belong together. Groups are declared by the names of their features, or made of
/// what stands before a separator in the names; a feature that no group claims is alone.
///
/// A feature finds its group when it enters the vocabulary. Declared groups are numbered as
/// declared, others in the order of their appearance, so that the last features to come can be
/// taken back together with the groups they have brought.
class Groups {
 public:
  static constexpr Index alone = -1;

  /// `group_of[i]` is the group of `names[i]`. A group's price grows with the root of its size.
  void declare(const std::vector<Name>& names, const std::vector<Index>& group_of) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto place = static_cast<std::size_t>(names_.find_or_add(names[i]));
      if (place < declared_.size()) continue;  // the first word counts
      declared_.push_back(group_of[i]);
      if (static_cast<std::size_t>(group_of[i]) >= members_.size())
        members_.resize(group_of[i] + std::size_t{1});
    }
    prices_.assign(members_.size(), 0);
    for (const Index group : declared_) ++prices_[group];
    for (double& price : prices_) price = std::sqrt(price);
  }

  /// The size of such a group is not known beforehand, so all have the same price.
  void separate_by(std::string separator) { separator_ = std::move(separator); }

  std::size_t size() const { return members_.size(); }
  bool any() const { return !declared_.empty() || !separator_.empty(); }

  Index of(Index feature) const { return any() ? of_[feature] : alone; }
  const std::vector<Index>& members(Index group) const { return members_[group]; }
  double price(Index group) const { return declared_.empty() ? 1 : prices_[group]; }

  /// Finds the groups of the features that are new.
  void grow(const Vocabulary& features) {
    if (!any()) return;
    for (Index f = static_cast<Index>(of_.size()); f < features.size(); ++f)
      assign(find(features.name(f)));
  }

  /// Features that are hashed belong to the group of the first declared name at their place.
  void grow_hashed(Index mask) {
    std::vector<Index> groups(static_cast<std::size_t>(mask) + 1, alone);
    for (Index i = names_.size(); i-- > 0;) groups[names_.name(i).place(mask)] = declared_[i];
    for (const Index group : groups) assign(group);
  }

  /// Takes back the features numbered `features` and above.
  void truncate(std::size_t features) {
    while (of_.size() > features) {
      if (of_.back() != alone) members_[of_.back()].pop_back();
      of_.pop_back();
    }
    if (!declared_.empty()) return;
    while (!members_.empty() && members_.back().empty()) members_.pop_back();
    names_.truncate(static_cast<Index>(members_.size()));
  }

 private:
  Index find(const Name& name) {
    if (!declared_.empty()) {
      const Index place = names_.find(name);
      return place < 0 ? alone : declared_[place];
    }
    if (!name.is_text()) return alone;
    const std::size_t end = name.view().find(separator_);
    return end == std::string_view::npos ? alone
                                         : names_.find_or_add(Name(name.view().substr(0, end)));
  }

  void assign(Index group) {
    if (group != alone) {
      if (static_cast<std::size_t>(group) == members_.size()) members_.emplace_back();
      members_[group].push_back(static_cast<Index>(of_.size()));
    }
    of_.push_back(group);
  }

  Vocabulary names_;             ///< of declared features, or of groups
  std::vector<Index> declared_;  ///< the groups of declared features
  std::string separator_;
  std::vector<double> prices_;
  std::vector<Index> of_;  ///< the group of each feature in the model
  std::vector<std::vector<Index>> members_;
};

}  // namespace yarrow
