import { internal } from "../../../shared/rpc/errors.js";
import type { AgentTool } from "./agent-tool.js";

/** By which a run asks whoever it acts as, and waits. The worker answers it itself. */
export const ASK_USER: AgentTool = {
  name: "ask_user",
  label: "ask_user",
  description:
    "Asks the person you work for, and waits for the answer, which may take days. Use it only where you cannot go on without it.",
  parameters: {
    type: "object",
    properties: { question: { type: "string", description: "The question, with all that one needs to answer it." } },
    required: ["question"],
  },
  readOnly: true,
  async call() {
    throw internal("a question is not called");
  },
};
