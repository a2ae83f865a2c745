import type { Call } from "../../shared/rpc/call.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import type { AgentRecord } from "../kinds/agents/record.js";
import type { ToolPin } from "../kinds/mcp-servers/pins.js";
import { allowedNow } from "./allowed.js";
import { rightsBytes } from "./counted-rights.js";
import { RunLost } from "./ending.js";
import { growRun } from "./grow-run.js";
import { leftOutParts } from "./left-out-parts.js";
import { fallbackOf, firstFallback, firstProvider, type Provider, providerOf } from "./provider.js";
import type { RunRecord } from "./record.js";
import { type Fixed, type GivenAgent, givenOf, isSame, meet, type Rights } from "./rights.js";
import { leftOutBytes } from "./run-bytes.js";
import type { OwnTools } from "./tools/own-tools.js";

/** What a run may do: fixed when it begins, and less with each step at which somebody took something away. */
export class KeptRights {
  #leftOut: readonly string[] = [];

  private constructor(
    private readonly context: Context,
    private readonly own: OwnTools,
    private readonly run: Pick<RunRecord, "_id" | "fence" | "owner" | "expires_at">,
    /** The agent as it was when the run was triggered: its instructions and its model stay. */
    readonly agent: GivenAgent,
    private rights: Rights | null,
    private integration: Fixed | null,
    private fallback: Fixed | null,
    /** The bytes that are counted for them. */
    private taken: number,
  ) {}

  /**
   * The rights of a run that a worker has taken.
   *
   * @param now its agent as it is, for a run that was triggered before rights were kept.
   */
  static async of(context: Context, own: OwnTools, run: RunRecord, now: AgentRecord): Promise<KeptRights> {
    const { _id, expires_at } = run;
    const found = await context.rights.findOne({ _id });
    const none = { agent: givenOf(now), rights: null, integration: null, fallback: null, taken: 0 };
    if (found === null) {
      await context.rights.insertOne({ _id, ...none, fence: run.fence, expires_at }).catch((error) => {
        if (isDuplicateKey(error)) throw new RunLost("another worker keeps its rights");
        throw error;
      });
    }
    const { agent, rights, integration, fallback = null, taken = 0 } = found ?? none;
    return new KeptRights(context, own, run, agent, rights, integration, fallback, taken);
  }

  /**
   * What the run may do at this step: no more than at the step before, nor than agent, caller and objects allow now.
   *
   * @returns the same object while nothing changes.
   * @throws RunEnd, if no model can be asked when the run begins; RunLost.
   */
  async inForce(now: AgentRecord, call: Call): Promise<Rights> {
    const allowed = await allowedNow(this.context, this.own, now, call);
    if (this.rights === null) {
      this.integration = await firstProvider(this.context, this.agent, call);
      this.fallback = await firstFallback(this.context, this.agent, this.integration, call);
      const first = meet(await allowedNow(this.context, this.own, this.agent, call), allowed);
      this.#leftOut = await leftOutParts(this.context, this.agent, first, call.caller);
      return first;
    }
    const next = meet(this.rights, allowed);
    return isSame(next, this.rights) ? this.rights : this.keep(next);
  }

  /**
   * Fixes what a run begins with, once it was equipped with it. Of a remote server it keeps the tools that were
   * offered, which is none if the server could not be reached.
   *
   * @returns what is kept, now and from then on.
   */
  async begin(rights: Rights, offered: ReadonlyMap<string, readonly ToolPin[]>): Promise<Rights> {
    if (this.rights !== null) return rights;
    await this.#keepLeftOut();
    const mcp_servers = rights.mcp_servers.map((one) => ({ ...one, tools: offered.get(one.id) ?? [] }));
    return this.keep({ ...rights, mcp_servers });
  }

  /** Where the model is asked. @throws RunEnd no_model. */
  provider(now: AgentRecord, call: Call): Promise<Provider> {
    return providerOf(this.context, this.integration!, { given: this.agent, now }, call);
  }

  get hasFallback(): boolean {
    return this.fallback !== null;
  }

  /** Where the fallback model is asked; undefined for nowhere. @throws RunEnd no_model. */
  async fallbackProvider(now: AgentRecord, call: Call): Promise<Provider | undefined> {
    return this.fallback === null
      ? undefined
      : fallbackOf(this.context, this.fallback, { given: this.agent, now }, call);
  }

  /** The run says what it works without, before it works. */
  async #keepLeftOut(): Promise<void> {
    const { _id, fence } = this.run;
    const bytes = leftOutBytes(this.#leftOut);
    if (bytes === 0) return;
    await growRun(this.context, this.run, bytes);
    const { matchedCount } = await this.context.runs.updateOne(
      { _id, fence, left_out: { $exists: false } },
      { $set: { left_out: this.#leftOut } },
    );
    if (matchedCount === 0) await growRun(this.context, this.run, -bytes);
  }

  /** A worker that lost the run does not put back what the next one saw taken away. */
  private async keep(rights: Rights): Promise<Rights> {
    const { _id, fence } = this.run;
    const { agent, integration, fallback } = this;
    const taken = rightsBytes({ agent, rights, integration, fallback });
    const grows = taken - this.taken;
    await growRun(this.context, this.run, grows);
    const { matchedCount } = await this.context.rights.updateOne(
      { _id, fence: { $lte: fence } },
      { $set: { rights, integration, fallback, fence, taken } },
    );
    if (matchedCount === 0) {
      await growRun(this.context, this.run, -grows);
      throw new RunLost("another worker keeps its rights");
    }
    this.rights = rights;
    this.taken = taken;
    return rights;
  }
}
