import type { DescMessage } from "@bufbuild/protobuf";
import { readImage } from "../../../../services/shared/tools/image.js";

/** The messages that rpcs of the API take and return. */
export function messagesOfRpcs(): DescMessage[] {
  const messages = new Set<DescMessage>();
  for (const file of readImage())
    if (file.kind === "service")
      for (const { input, output } of file.methods) for (const one of [input, output]) messages.add(one);
  return [...messages];
}
