#pragma once
/// Pictures that commands write, as SVG, PNG or PDF by the suffix of the file.
#include <string>

#include "apps/frame/json.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::app {

/// Makers of a picture: the command itself, which only needs the Python program of reports for PNG and PDF, or that program, from
/// the run record.
enum class PictureSource { drawing, record };

/// Checks the file of --picture before anything is computed: its suffix, and that what will draw it is there. An empty path is
/// none; standard output ("-"), devices and pipes take drawings as SVG. Local.
/// @throws UsageError if the suffix is none of .svg, .png and .pdf, or the Python program of reports is needed and missing
void check_picture(const std::string& path, PictureSource source);
/// Checks the file of --picture on rank 0, as check_picture() without a transport does, for all ranks. Collective.
/// @throws UsageError on every rank if rank 0 refuses the file
void check_picture(const std::string& path, PictureSource source, comm::Transport& transport);

/// Writes a drawing as SVG, PNG or PDF, by the suffix of the path; nothing if the path is empty. Local; call check_picture() at the beginning of the run.
/// @param svg  the drawing, an SVG document @throws InputError if the file cannot be written
void write_picture(const std::string& path, const std::string& svg);

/// Draws a run record as the charts of `merganser report` that show results of its command, as SVG, PNG or PDF; nothing if
/// the path is empty. Local; call check_picture() at the beginning of the run. @throws InputError if the file cannot be written
void write_record_picture(const std::string& path, const Json& record);

}  // namespace merganser::app
