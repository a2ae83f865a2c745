// The real platform asked directly as any of its people, each with an API token
// of its own. Nothing here comes from the service: what is expected of a tool
// must not share its beliefs.

/** Where the real platform is, and the token of its administrator. */
export interface Address {
  readonly url: string;
  readonly token: string;
}

/** What the platform answered. */
export interface Reply {
  // biome-ignore lint/suspicious/noExplicitAny: somebody else's JSON, looked at as it is.
  readonly data: any;
  readonly errors: readonly { readonly message: string; readonly name?: string }[];
}

/** The real platform, as its people. */
export class RealPlatform {
  /** API tokens by the names of people. */
  readonly tokens = new Map<string, string>();

  constructor(private readonly at: Address) {
    this.tokens.set("root", at.token);
  }

  get url(): string {
    return this.at.url;
  }

  /** One request as a person; who has no account sends no token. */
  async call(person: string, query: string, variables: object = {}): Promise<Reply> {
    const token = this.tokens.get(person);
    const reply = await fetch(new URL("graphql", `${this.at.url}/`), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "opencti-draft-id": "",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ query, variables }),
    });
    const body = (await reply.json()) as Partial<Reply>;
    return { data: body.data ?? null, errors: body.errors ?? [] };
  }

  /** A request that must succeed; its data. @throws Error where it does not. */
  // biome-ignore lint/suspicious/noExplicitAny: somebody else's JSON, looked at as it is.
  async need(person: string, query: string, variables: object = {}): Promise<any> {
    const { data, errors } = await this.call(person, query, variables);
    if (errors.length === 0 && data !== null) return data;
    const asked = `${query.slice(0, 200)} ${JSON.stringify(variables).slice(0, 300)}`;
    throw new Error(`${person}: ${asked}: ${JSON.stringify(errors).slice(0, 500)}`);
  }

  /** Everything that a list shows a person, through all its pages by the time of creation. */
  async list(
    person: string,
    field: string,
    fields: string,
    args = "",
    variables = "",
    values: object = {},
  ): Promise<Node[]> {
    const all: Node[] = [];
    let after: string | null = null;
    for (;;) {
      const query = `query(${variables}$after: ID) { list: ${field}(first: 500, after: $after, orderBy: created_at, orderMode: desc${args}) { edges { node { ${fields} } } pageInfo { hasNextPage endCursor } } }`;
      const { data, errors } = await this.call(person, query, { ...values, after });
      if (errors.some(({ name }) => name === "FORBIDDEN_ACCESS" || name === "AUTH_REQUIRED")) return [];
      if (errors.length > 0) throw new Error(`${person} ${field}: ${JSON.stringify(errors).slice(0, 500)}`);
      all.push(...data.list.edges.map((edge: { node: Node }) => edge.node));
      const { hasNextPage, endCursor } = data.list.pageInfo;
      if (!hasNextPage || !endCursor) return all;
      after = endCursor;
    }
  }
}

/** Somebody else's object. */
// biome-ignore lint/suspicious/noExplicitAny: somebody else's JSON, looked at as it is.
export type Node = Readonly<Record<string, any>> & { readonly id: string };
