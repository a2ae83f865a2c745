import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { GetPromptRequestSchema, GetPromptResponseSchema } from "#proto/core/v1/prompt_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { readable } from "../../objects/gate.js";
import { shownOf } from "../../objects/view.js";
import type { PromptRecord } from "./record.js";
import { versionOf, versionsOf } from "./versions.js";

/** Reads one prompt in full, as it is or was, and names its versions. */
export async function getPrompt(
  context: Context,
  { promptId, version }: MessageShape<typeof GetPromptRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof GetPromptResponseSchema>> {
  const record = (await readable(context, "prompt", promptId, caller)) as PromptRecord;
  const asked = versionOf(record, version);
  return {
    prompt: {
      ...shownOf(record, caller),
      template: asked.template,
      arguments: [...asked.arguments],
      version: asked.version,
    },
    versions: versionsOf(record).map((one) => ({
      version: one.version,
      createdAt: timestampFromDate(one.versioned_at),
      ...(one.author !== "" && {
        author: { id: one.author, ...(one.author === caller.id && { name: caller.name }) },
      }),
    })),
  };
}
