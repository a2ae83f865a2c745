import { expect, test } from "vitest";
import { namesFinder, withoutNames } from "../../../../services/shared/tools/without-names.js";

const missing = namesFinder(["list_cats", "get_cat", "list_dogs", "whoami"]);

test.each([
  ["nothing is missing", "Lists birds, from list_birds.", "Lists birds, from list_birds."],
  ["a sentence", "Lists birds. Use get_cat for cats. Sings.", "Lists birds. Sings."],
  ["a sentence that begins with a name", "Lists birds. get_cat reads one. Sings.", "Lists birds. Sings."],
  ["a part between semicolons", "Rows are short; read one with get_cat.", "Rows are short."],
  ["the first part", "Read one with get_cat; rows are short.", "Rows are short."],
  ["a clause at the end", "The cat's id, from list_cats.", "The cat's id."],
  ["a clause in the middle", "Only those of this cat, from list_cats, by name.", "Only those of this cat, by name."],
  ["a clause before a colon", "A cat, from list_cats: it is copied.", "A cat: it is copied."],
  ["a parenthesis", "A type, such as Cat (see list_cats).", "A type, such as Cat."],
  ["some of a list", "Its id, from list_cats or list_birds.", "Its id, from list_birds."],
  ["some of a longer list", "Its id, from list_a, list_cats or list_b.", "Its id, from list_a or list_b."],
  ["all of a list", "Its id, from list_cats or list_dogs.", "Its id."],
  ["what a sentence is about", "Its score, on the scale that get_cat shows.", "Its score."],
  ["all of it", "From list_cats.", ""],
  ["a line of its own", "Lists birds.\nUse get_cat for cats.", "Lists birds."],
  ["a legend", "How it is. bad: get_cat says why. good: All is well.", "How it is. good: All is well."],
  ["no part of a longer name", "See list_cats_of and get_catalogue.", "See list_cats_of and get_catalogue."],
])("left out is %s", (_, text, expected) => {
  expect(withoutNames(text, missing)).toBe(expected);
});

test("a text of any form costs little", () => {
  const start = performance.now();
  for (const unit of ["a, ", "list_cats, ", ", from ", "( ", "list_cats. ", "; "])
    withoutNames(unit.repeat(2_000), missing);
  expect(performance.now() - start).toBeLessThan(2_000);
});
