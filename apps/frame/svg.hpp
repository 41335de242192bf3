#pragma once
/// Pictures as SVG: elements as text.
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace merganser::app::svg {

/// Names and values, in the order in which they are written. Values hold no quotation mark.
using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

/// One element; `content` is markup (escaped() makes it of words), none: <name .../>.
[[nodiscard]] std::string element(std::string_view name, Attributes attributes, const std::string& content = {});
/// Words as they are written in an element.
[[nodiscard]] std::string escaped(const std::string& words);
/// The whole document; width and height in pixels.
[[nodiscard]] std::string document(const std::string& width, const std::string& height, Attributes more,
                                   const std::string& content);
/// What lies below everything else.
[[nodiscard]] std::string background();

}  // namespace merganser::app::svg
