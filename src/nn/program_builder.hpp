#pragma once
/// Builds a program step by step. Calls give the step's number; names, spaces and sizes that do not fit are found by
/// validate().
///
///   ProgramBuilder build;
///   const std::size_t x = build.input(Source::features, Space::node, 2);
///   const std::size_t h = build.activate("h", build.linear("pre", x, 64), Activation::relu);
#include <string>
#include <utility>
#include <vector>

#include "nn/program.hpp"

namespace tyche::nn {

class ProgramBuilder {
 public:
  /// The tensor of this name; a new one is the next of the flat vector.
  std::size_t tensor(const std::string& name, std::vector<std::size_t> shape, std::size_t fan_in, float start = 0) {
    std::vector<Tensor>& tensors = program_.parameters.tensors;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (tensors[t].name == name) return t;
    }
    std::size_t size = 1;
    for (const std::size_t extent : shape) size *= extent;
    tensors.push_back({name, std::move(shape), program_.parameters.size, size, fan_in, start});
    program_.parameters.size += size;
    return tensors.size() - 1;
  }
  /// `name`.weight and `name`.bias of torch's Linear: for tensors that stand elsewhere in the flat vector than steps in
  /// the list.
  void declare_linear(const std::string& name, std::size_t in, std::size_t out) {
    tensor(name + ".weight", {out, in}, in);
    tensor(name + ".bias", {out}, in);
  }
  /// Any step; its columns and space are given.
  std::size_t step(Step step) {
    program_.steps.push_back(std::move(step));
    return program_.steps.size() - 1;
  }
  std::size_t input(Source source, Space space, std::size_t columns) {
    Step out{std::string(nn::name(source)), Operation::input, space, columns};
    out.source = source;
    return step(std::move(out));
  }
  /// torch's Linear on every row.
  std::size_t linear(const std::string& name, std::size_t value, std::size_t columns_out, bool bias = true) {
    const std::size_t in = columns(value);
    Step out{name, Operation::linear, space(value), columns_out, {term(name + ".weight", columns_out, value)}};
    if (bias) out.bias = tensor(name + ".bias", {columns_out}, in);
    return step(std::move(out));
  }
  /// torch's BatchNorm1d or LayerNorm; the value itself where there is none.
  std::size_t normalise(const std::string& name, std::size_t value, Norm norm) {
    if (norm == Norm::none) return value;
    const std::size_t size = columns(value);
    Step out{name, Operation::normalise, space(value), size, {{value}}};
    out.norm = norm;
    out.terms[0].weight = tensor(name + ".weight", {size}, 0, 1);
    out.bias = tensor(name + ".bias", {size}, 0);
    if (norm == Norm::batch) {
      out.mean = tensor(name + ".running_mean", {size}, 0);
      out.variance = tensor(name + ".running_var", {size}, 0, 1);
      for (const std::size_t own : {out.mean, out.variance}) program_.parameters.tensors[own].running = true;
    }
    return step(std::move(out));
  }
  std::size_t add(const std::string& name, const std::vector<std::size_t>& values) {
    if (values.size() == 1) return values.front();
    Step out{name, Operation::add, space(values.front()), columns(values.front())};
    for (const std::size_t value : values) out.terms.push_back({value});
    return step(std::move(out));
  }
  std::size_t activate(const std::string& name, std::size_t value, Activation activation) {
    Step out{name, Operation::activate, space(value), columns(value), {{value}}};
    out.activation = activation;
    return step(std::move(out));
  }
  std::size_t dropout(const std::string& name, std::size_t value, double share) {
    Step out{name, Operation::dropout, space(value), columns(value), {{value}}};
    out.share = share;
    return step(std::move(out));
  }
  /// The value itself where there is but one.
  std::size_t concat(const std::string& name, const std::vector<std::size_t>& values) {
    if (values.size() == 1) return values.front();
    Step out{name, Operation::concat, space(values.front()), 0};
    for (const std::size_t value : values) {
      out.terms.push_back({value});
      out.columns += columns(value);
    }
    return step(std::move(out));
  }
  /// Where `onto` is given, what is read is added to that value.
  std::size_t aggregate(const std::string& name, Space space, std::size_t value, Link link, Reduce reduce,
                        std::size_t onto = kNone) {
    Step out{name, Operation::aggregate, space, columns(value), {{value, link, reduce}}};
    out.onto = onto;
    return step(std::move(out));
  }
  /// What a linear step of so many columns reads of a value, multiplied by the tensor of this name.
  Term term(const std::string& weight, std::size_t columns_out, std::size_t value, Link link = Link::own,
            Reduce reduce = Reduce::sum) {
    const std::size_t in = columns(value);
    return {value, link, reduce, tensor(weight, {columns_out, in}, in)};
  }
  /// Validated.
  [[nodiscard]] Program take() {
    validate(program_);
    return std::move(program_);
  }

  [[nodiscard]] std::size_t columns(std::size_t value) const { return program_.steps[value].columns; }
  [[nodiscard]] Space space(std::size_t value) const { return program_.steps[value].space; }

 private:
  Program program_;
};

}  // namespace tyche::nn
