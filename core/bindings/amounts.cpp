#include "../amounts.hpp"

#include <nanobind/stl/pair.h>

#include "common.hpp"

namespace yarrow {

namespace {

using Number = Amounts::Number;
using Numbers = nb::ndarray<double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<double> span(const Numbers& array) { return {array.data(), array.size()}; }

std::vector<std::pair<Number, double>> entries(const Amounts& amounts, Number row) {
  std::vector<std::pair<Number, double>> found;
  for (const Amounts::Entry& e : amounts.row(row).entries) found.emplace_back(e.column, e.amount);
  return found;
}

}  // namespace

void bind_amounts(nb::module_& m) {
  nb::class_<Amounts>(m, "Amounts", "Amounts by row and column, most of them nothing.")
      .def(nb::init<>())
      .def("__len__", &Amounts::size)
      .def("add", &Amounts::add, nb::arg("row"), nb::arg("column"), nb::arg("amount"),
           "Add to an amount, which does not fall below zero.")
      .def(
          "add_all",
          [](Amounts& self, const std::vector<Number>& rows, Number column, double amount) {
            for (const Number row : rows) self.add(row, column, amount);
          },
          nb::arg("rows"), nb::arg("column"), nb::arg("amount"),
          "Add the same to the amounts of a column at some rows.")
      .def("merge", &Amounts::merge, nb::arg("column"), nb::arg("into"),
           "Move all amounts of a column to another.")
      .def("at", &Amounts::at, nb::arg("row"), nb::arg("column"))
      .def(
          "total", [](const Amounts& self, Number row) { return self.row(row).total; },
          nb::arg("row"))
      .def("entries", &entries, nb::arg("row"), "The columns of a row and their amounts.")
      .def(
          "add_shares",
          [](const Amounts& self, const std::vector<Number>& rows,
             const std::vector<double>& shares, double more,
             const Numbers& out) { self.add_shares(rows, shares, more, span(out)); },
          nb::arg("rows"), nb::arg("shares"), nb::arg("more"), nb::arg("out"),
          "Add share * amount / (total + more) of some rows to each column of `out`.")
      .def(
          "add_rarities",
          [](Amounts& self, const std::vector<Number>& rows, const std::vector<double>& factors,
             const Table& values, const Numbers& sum) {
            self.add_rarities(rows, factors, {values.data(), values.size()}, span(sum));
          },
          nb::arg("rows"), nb::arg("factors"), nb::arg("values"), nb::arg("sum"),
          "Write log(total + 1) - log(total - amount + 1) into zeros, a row for each of `rows`, "
          "and add them times their factor to `sum`.");
}

}  // namespace yarrow
