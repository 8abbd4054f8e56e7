#include "activity/counts.hpp"

#include <nanobind/stl/pair.h>

#include "activity/best_pair.hpp"
#include "bindings/common.hpp"

namespace yarrow {

namespace {

using Number = Counts::Number;
using Numbers = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Counts whose rows have names. The names stay Python's: it has their hashes already.
struct NamedCounts {
  Counts counts;
  nb::dict rows;  ///< the number of each row

  Number find(nb::handle name) const {
    PyObject* number = PyDict_GetItemWithError(rows.ptr(), name.ptr());
    if (!number && PyErr_Occurred()) throw nb::python_error();
    return number ? static_cast<Number>(PyLong_AsLong(number)) : -1;
  }

  Number find_or_add(nb::handle name) {
    Number number = find(name);
    if (number < 0) {
      number = static_cast<Number>(counts.size());
      counts.add(number, 0, 0);
      rows[name] = number;
    }
    return number;
  }

  void add(nb::handle name, Number column, double amount) {
    counts.add(find_or_add(name), column, amount);
  }

  void add_to_each(const nb::dict& names, Number column, double amount) {
    for (const auto [name, value] : names) add(name, column, amount);
  }

  void add_items(const nb::dict& items, Number column, double factor) {
    for (const auto [name, value] : items)
      add(name, column, factor * to_number(value, "An amount"));
  }

  double at(nb::handle name, Number column) const {
    const Number row = find(name);
    return row < 0 ? 0 : counts.at(row, column);
  }

  double total(nb::handle name) const {
    const Number row = find(name);
    return row < 0 ? 0 : counts.row(row).total;
  }

  /// Names stay in their order, those without an amount too.
  nb::list state() const {
    nb::list state;
    for (const auto [name, number] : rows) {
      nb::list entries;
      for (const Counts::Entry& e : counts.row(find(name)).entries)
        entries.append(nb::make_tuple(e.column, e.amount));
      state.append(nb::make_tuple(name, entries));
    }
    return state;
  }

  void load(const nb::iterable& state) {
    NamedCounts loaded;
    for (const auto row : state) {
      loaded.find_or_add(row[0]);
      for (const auto entry : row[1])
        loaded.add(row[0], nb::cast<Number>(entry[0]), to_number(entry[1], "An amount"));
    }
    *this = std::move(loaded);
  }

  void add_shares(const nb::dict& shares, double factor, double more, const Numbers& out) const {
    for (const auto [name, share] : shares) {
      const Number row = find(name);
      if (row >= 0)
        counts.add_share(row, factor * to_number(share, "A share"), more, {out.data(), out.size()});
    }
  }

  void add_rarities(const nb::dict& times, double factor, const Table& values, const Numbers& sum) {
    if (values.shape(0) != times.size() || values.shape(1) != sum.size())
      throw Error("There must be a row for each name and a column for each sum.");
    double* value = values.data();
    for (const auto [name, often] : times) {
      std::fill_n(value, sum.size(), 0.0);
      const Number row = find(name);
      if (row >= 0)
        counts.add_rarity(row, factor * to_number(often, "A number of times"), {value, sum.size()},
                          {sum.data(), sum.size()});
      value += sum.size();
    }
  }
};

}  // namespace

void bind_counts(nb::module_& m) {
  nb::class_<NamedCounts>(m, "Counts",
                          "Counts by name (rows) and number (columns), most of them nothing.")
      .def(nb::init<>())
      .def_ro("rows", &NamedCounts::rows, "The names, in their order; only to be read.")
      .def("add", &NamedCounts::add, nb::arg("name"), nb::arg("column"), nb::arg("amount"),
           "Add to an amount, which does not fall below zero.")
      .def("add_to_each", &NamedCounts::add_to_each, nb::arg("names"), nb::arg("column"),
           nb::arg("amount"), "Add the same to an amount at each key of a dict.")
      .def("add_items", &NamedCounts::add_items, nb::arg("items"), nb::arg("column"),
           nb::arg("factor"), "Add the values of a dict, times a factor, at its keys.")
      .def(
          "merge",
          [](NamedCounts& self, Number column, Number into) { self.counts.merge(column, into); },
          nb::arg("column"), nb::arg("into"), "Move all amounts of a column to another.")
      .def("at", &NamedCounts::at, nb::arg("name"), nb::arg("column"))
      .def("total", &NamedCounts::total, nb::arg("name"))
      .def("state_dict", &NamedCounts::state,
           "Return plain data: each name, and the columns that have an amount, with it.")
      .def("load_state_dict", &NamedCounts::load, nb::arg("state"), "Go on from plain data.")
      .def("add_shares", &NamedCounts::add_shares, nb::arg("shares"), nb::arg("factor"),
           nb::arg("more"), nb::arg("out"),
           "Add factor * share * amount / (total + more) of all known names to `out`.")
      .def("add_rarities", &NamedCounts::add_rarities, nb::arg("times"), nb::arg("factor"),
           nb::arg("values"), nb::arg("sum"),
           "Write log(total + 1) - log(total - amount + 1), a row of values for each name, and "
           "add them, times the factor and the number of times, to `sum`.");
  m.def(
      "best_pair",
      [](const Numbers& first, const Numbers& second, double penalty, double unit,
         const Numbers& out) {
        const Leader best = best_pair({first.data(), first.size()}, {second.data(), second.size()},
                                      penalty, unit, {out.data(), out.size()});
        return std::pair(best.place, best.value - best.next);
      },
      nb::arg("first"), nb::arg("second"), nb::arg("penalty"), nb::arg("unit"), nb::arg("out"),
      "Write the score of the best pair that ends at each place, in this unit; return the best "
      "place and how far it leads.");
}

}  // namespace yarrow
