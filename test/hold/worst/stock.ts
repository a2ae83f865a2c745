import type { JsonObject } from "@bufbuild/protobuf";
import type { Tool } from "../../../services/shared/tools/tools.js";
import { EVERY_KIND } from "../../services/core-objects/every-kind.js";
import type { Ask } from "./known.js";

const DOCUMENT = "Phishing comes by mail. ".repeat(200);
let made = 0;

/** Makes an object of each kind in core, and a document, so that what is asked of them is work. */
export async function stockCore(tools: readonly Tool[], ask: Ask): Promise<void> {
  const call = (name: string, args: JsonObject): Promise<unknown> =>
    ask(tools.find((tool) => tool.server === "core" && tool.name === name)!, args);
  made++;
  for (const { snake, nameOf, needs } of EVERY_KIND) {
    const args = { name: nameOf(`stock${made}`), description: "Made by a test.", ...needs } as JsonObject;
    const there = (await call(`create_${snake}`, args)) as
      | { readonly [member: string]: { readonly id: string } }
      | undefined;
    if (snake !== "knowledge_base" || there === undefined) continue;
    const { id } = there.knowledge_base!;
    await call("add_document", { knowledge_base_id: id, name: "stock", content: DOCUMENT });
  }
}
