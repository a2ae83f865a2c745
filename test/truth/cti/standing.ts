import type { Known } from "../frame/leaks.js";
import type { Node } from "./platform.js";
import type { Seen } from "./seen.js";

/** So many of the last changed are looked at again; all where more came or something went. */
const LATEST = 60;

/** Everything there is, as the platform's administrator sees it, kept up to date by what changed last. */
export class Everything {
  private nodes: Map<string, Node> | undefined;

  constructor(private readonly root: Seen) {}

  /** Every object and relationship now, by id. */
  async now(): Promise<ReadonlyMap<string, Node>> {
    const { nodes, total } = await this.root.latest(LATEST);
    const known = new Map(this.nodes);
    for (const node of nodes) known.set(node.id, node);
    if (this.nodes === undefined || known.size !== total) {
      const all = [...(await this.root.objects()), ...(await this.root.relationships())];
      this.nodes = new Map(all.map((node) => [node.id, node]));
    } else this.nodes = known;
    return this.nodes;
  }

  /** All of it by what can be told apart in a text. */
  async known(): Promise<Known[]> {
    return [...(await this.now()).values()].flatMap((node) => [
      { id: node.id, name: node.representative?.main as string | undefined },
      { id: node.standard_id as string },
    ]);
  }
}
