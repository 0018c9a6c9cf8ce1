#pragma once

#include <span>
#include <string_view>

namespace whystop {

/// One line of src/cause/<id>/<id>.cause: a verb, the sign it is about, and when the line counts.
/// Lists are separated by spaces, all of which are wanted; "a|b" is either; "!a" is a plain no.
struct Clause {
  enum class Verb {
    kExact,     // Settles it: the fault itself was seen.
    kStrong,    // Hardly comes of anything else.
    kExplains,  // Comes of this cause, and of others.
    kRequires,  // Without it the cause is ruled out.
    kExcludes,  // With it the cause is ruled out.
  };
  Verb verb = Verb::kExplains;
  std::string_view sign;
  std::string_view only_if;  // Counts where all of these are so...
  std::string_view unless;   // ...and none of these.
};

/// A text of the declaration: a remedy, or what could not be seen.
struct TextClause {
  std::string_view kind;  // Of what could not be seen: where it would be.
  std::string_view text;  // With figures of signs as {sign.figure}: told only where all are known.
  std::string_view only_if;
  std::string_view unless;
};

/// What a cause of bad learning says of itself; nothing else decides for it.
struct Declaration {
  std::string_view id;
  bool symptom = false;  // Says what happened, not why: never the root where its cause is known.
  std::string_view leads_to;
  std::span<const Clause> clauses;
  std::span<const TextClause> fixes;
  std::span<const TextClause> asks;
  std::string_view settled_by;  // The experiment that would tell it from its rivals.
  std::string_view special_of;  // The cause that it is one way of: where nothing tells them apart, that one is told.
};

/// Every declaration, sorted by id; made of the .cause files at build time (tools/embed_causes.py).
std::span<const Declaration> AllDeclarations();
const Declaration* FindDeclaration(std::string_view id);  // nullptr: a cause of an end.

}  // namespace whystop
