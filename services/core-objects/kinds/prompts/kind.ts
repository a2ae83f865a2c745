import { PromptSchema, PromptService } from "#proto/core/v1/prompt_service_pb.js";
import { unary } from "../../../shared/rpc/method.js";
import { defineKind } from "../../objects/define-kind.js";
import { BY_NAME } from "../../objects/find-named.js";
import { given } from "../../objects/given.js";
import { readPrompt } from "./builtin.js";
import { getPrompt } from "./get-prompt.js";
import type { PromptRecord } from "./record.js";
import { renderPrompt } from "./render-prompt.js";
import { firstVersion, versionAfter } from "./versions.js";

const { listPrompts, createPrompt, updatePrompt, deletePrompt, ...special } = PromptService.method;

/** Prompts: texts with arguments to fill in, kept version by version. */
export const kind = defineKind({
  noun: "prompt",
  plural: "prompts",
  message: PromptSchema,
  view: (record: PromptRecord) => ({
    template: record.template,
    arguments: [...record.arguments],
    version: record.version,
  }),
  list: {
    rpc: listPrompts,
    without: ["template", "history"],
    hidden: ["arguments", "owner", "sharing", "etag", "createdAt", "updatedAt"],
  },
  create: {
    rpc: createPrompt,
    content: ({ template, arguments: args }, writer) => ({ ...firstVersion(template, args, writer), history: [] }),
  },
  update: {
    rpc: updatePrompt,
    changes: ({ name, template, putArguments: put, removeArguments: remove }, current, writer) => ({
      ...given({ name }),
      ...versionAfter(current, { template, put, remove }, writer),
    }),
  },
  delete: { rpc: deletePrompt },
  commands: (context) => [
    unary(special.getPrompt, (request, call) => getPrompt(context, request, call)),
    unary(special.renderPrompt, (request, call) => renderPrompt(context, request, call)),
  ],
  indexes: [BY_NAME],
  readBuiltin: readPrompt,
});
