import { startModel } from "../../services/core-objects/runs/model-server.js";
import { call, post } from "../../support/mcp.js";
import { startProgram } from "../../support/program.js";
import { type Ground, makeGround } from "./ground.js";
import type { Shown } from "./shown.js";

/** The built program, with a model that asks a question. */
export interface Core {
  /** Every tool of core, as tools/list shows it. */
  readonly tools: readonly Shown[];
  /** Makes new people and what they have. */
  ground(): Promise<Ground>;
  stop(): Promise<void>;
}

/** Starts it, without limits of calls. */
export async function startCore(): Promise<Core> {
  const model = await startModel(() => ({ call: "ask_user", args: { question: "Which one?" } }));
  const much = ["CALLS_PER_MINUTE", "CALL_BURST", "USER_CALL_BURST"].map((name) => [name, "1000000"]);
  const program = await startProgram({ env: Object.fromEntries(much) });
  const { api_key: key } = program.bootstrap.admin;
  const url = `${program.baseUrl}/mcp/core`;
  // search_knowledge is listed for who can read a knowledge base.
  await call(url, key, "create_knowledge_base", { name: "The administrator's" });
  const { body } = await post(url, key, "tools/list");
  return {
    tools: body.result?.tools as Shown[],
    ground: () => makeGround(program, `${model.url}/v1`),
    async stop() {
      await program.stop();
      await model.close();
    },
  };
}
