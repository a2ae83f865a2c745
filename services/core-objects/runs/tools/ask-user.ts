import { internal } from "../../../shared/rpc/errors.js";
import type { AgentTool } from "./agent-tool.js";

/** A run asks the user as whom it acts, and waits. The worker itself answers the call. */
export const ASK_USER: AgentTool = {
  name: "ask_user",
  label: "ask_user",
  known: "ask_user",
  target: "ask_user",
  readsOutside: false,
  writesOutside: false,
  description:
    "Asks the person you work for, and waits for the answer, which may take days. Use it only if you cannot continue without the answer.",
  parameters: {
    type: "object",
    properties: {
      question: { type: "string", description: "The question, with everything that is needed to answer it." },
    },
    required: ["question"],
  },
  readOnly: true,
  async call() {
    throw internal("a question is not called");
  },
};
