import type { Known } from "../frame/leaks.js";
import type { Row } from "../frame/pages.js";
import type { Query, RealPlatform } from "./platform.js";

/** Where each kind of object is listed. */
export const LISTS = {
  control: "/api/applied-controls/",
  evidence: "/api/evidences/",
  audit: "/api/compliance-assessments/",
  requirement: "/api/requirement-assessments/",
  riskAssessment: "/api/risk-assessments/",
  risk: "/api/risk-scenarios/",
  study: "/api/ebios-rm/studies/",
  attack: "/api/ebios-rm/operational-scenarios/",
  framework: "/api/frameworks/",
  asset: "/api/assets/",
  entity: "/api/entities/",
  loss: "/api/crq/quantitative-risk-studies/",
  priced: "/api/crq/quantitative-risk-scenarios/",
  folder: "/api/folders/",
} as const;

/** The id of something related; undefined for none and for what is hidden. */
export const idOf = (related: unknown): string | undefined => (related as { id?: string } | null | undefined)?.id;

/** A tenant as a person sees it: its topmost folder, and all folders inside that the person sees. */
export interface SeenTenant {
  readonly id: string;
  readonly name: string;
  readonly folders: ReadonlyMap<string, Row>;
}

/** What one person sees of the platform, asked directly. */
export class Seen {
  constructor(
    private readonly platform: RealPlatform,
    readonly email: string,
    private readonly rootId: string,
  ) {}

  /** The tenants: folders under the root, or whose parent the person does not see, with what lies inside. By name. */
  async tenants(): Promise<SeenTenant[]> {
    const all = await this.platform.list(this.email, LISTS.folder);
    const folders = new Map(all.filter((one) => this.isInside(one)).map((one) => [one.id, one]));
    const topOf = (one: Row): string => {
      const parent = folders.get(idOf(one.parent_folder) ?? "");
      return parent === undefined ? one.id : topOf(parent);
    };
    const tops = [...new Set([...folders.values()].map(topOf))];
    return tops
      .map((id) => ({
        id,
        name: String(folders.get(id)!.name),
        folders: new Map([...folders].filter(([, one]) => topOf(one) === id)),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async tenant(id: string): Promise<SeenTenant | undefined> {
    return (await this.tenants()).find((one) => one.id === id);
  }

  /** What a list shows of one tenant, in the order asked for. */
  async of(tenant: SeenTenant, path: string, query: Query = {}): Promise<Row[]> {
    const rows = await this.platform.list(this.email, path, query);
    return rows.filter(({ folder }) => tenant.folders.has(idOf(folder) ?? ""));
  }

  /** The ids of what the platform itself shows of an audit, headings included. */
  async requirementsOf(audit: string): Promise<string[]> {
    const { status, body } = await this.platform.call(this.email, "GET", `${LISTS.audit}${audit}/requirements_list/`);
    if (status !== 200) throw new Error(`requirements of ${audit} as ${this.email}: ${status}`);
    return (body.requirement_assessments as Row[]).map(({ id }) => id);
  }

  read(path: string, id: string): Promise<Row | undefined> {
    return this.platform.read(this.email, path, id);
  }

  /** Every object of every kind that the person sees. */
  async objects(): Promise<Known[]> {
    const lists = await Promise.all(Object.values(LISTS).map((path) => this.platform.list(this.email, path)));
    return lists.flat().map(({ id, name }) => ({ id, name: name as string | null }));
  }

  /** The same, and what the platform names inside of what the person sees. */
  async everything(): Promise<Known[]> {
    const lists = await Promise.all(Object.values(LISTS).map((path) => this.platform.list(this.email, path)));
    // Anybody with a role reads the root; it is listed for administrators only.
    const root = { id: this.rootId, name: "Global" };
    const told = [root, ...lists.flat().map(({ id, name }) => ({ id, name: name as string | null }))];
    const named = lists.flat().flatMap((row) => related(row));
    return [...told, ...named];
  }

  private isInside({ id, content_type }: Row): boolean {
    return id !== this.rootId && !/global|GL|personal|PE/i.test(String(content_type));
  }
}

/** What the platform itself names inside what a person sees. */
function related(value: unknown): Known[] {
  if (Array.isArray(value)) return value.flatMap(related);
  if (typeof value !== "object" || value === null) return [];
  const { id, name, str } = value as Record<string, unknown>;
  const inner = Object.values(value).flatMap(related);
  if (typeof id !== "string") return inner;
  return [{ id, name: typeof name === "string" ? name : typeof str === "string" ? str : undefined }, ...inner];
}
