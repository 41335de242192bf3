#pragma once
/// Formatting of SVG elements as text, for pictures of commands.
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace merganser::app::svg {

/// Attributes of an SVG element, by name and value, in the order in which they are written. Values must hold no quotation mark.
using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

/// Formats one SVG element. @param content  markup within it (plain text must be escape()); empty: <name .../>
[[nodiscard]] std::string element(std::string_view name, Attributes attributes, const std::string& content = {});
/// Escapes plain text for use as content of an SVG element.
[[nodiscard]] std::string escape(const std::string& words);
/// Formats a whole SVG document. @param width, height  in pixels @param more  further attributes of its root @param content  its
/// elements
[[nodiscard]] std::string document(const std::string& width, const std::string& height, Attributes more,
                                   const std::string& content);
/// Returns the SVG rectangle of the background, the first element of every picture.
[[nodiscard]] std::string background();
/// Returns round numbers from `low` to `high`, about five, for the labels of an axis; `low` alone if they are equal but for rounding.
[[nodiscard]] std::vector<double> round_levels(double low, double high);
/// Formats a label of an axis from `low` to `high`: four digits, and as many more as tell levels apart on an axis far from 0.
[[nodiscard]] std::string level_text(double level, double low, double high);

}  // namespace merganser::app::svg
