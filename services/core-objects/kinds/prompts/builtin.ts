import { readFrontMatter } from "../../front-matter.js";
import type { Shipped } from "../../record.js";
import type { PromptRecord } from "./record.js";
import { checkTemplate } from "./template.js";

/** When what ships was written is not known, and must not differ between starts. */
const UNDATED = new Date(0);

/**
 * Reads a prompt that ships with the product: a Markdown file whose front matter
 * has in `arguments` what each is, and in `optional` those that need not be given.
 *
 * @throws Error that names file and line.
 */
export function readPrompt(path: string): Shipped<PromptRecord> {
  const file = readFrontMatter(path);
  const optional = file.texts("optional");
  const args = file
    .names("arguments")
    .map((name) => ({ name, description: file.text("arguments", name), required: !optional.includes(name) }));
  const template = file.body.trimEnd();
  try {
    checkTemplate(template, args);
  } catch (error) {
    throw file.wrong(["arguments"], (error as { rawMessage: string }).rawMessage);
  }
  return {
    name: file.text("name"),
    description: file.text("description"),
    labels: file.texts("labels"),
    version: 1,
    template,
    arguments: args,
    versioned_at: UNDATED,
    author: "",
    history: [],
  };
}
