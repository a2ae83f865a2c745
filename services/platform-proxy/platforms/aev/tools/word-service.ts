import { WordService } from "#proto/aev/v1/word_service_pb.js";
import { unary } from "../../../binding.js";
import { listPage, nameKey } from "../list.js";
import { tenantOf } from "../tenant.js";
import { wholeOf } from "../whole.js";

interface UpstreamTag {
  readonly tag_id: string;
  readonly tag_name: string;
  readonly tag_color: string | null;
}

interface UpstreamDomain {
  readonly domain_id: string;
  readonly domain_name: string;
}

const DOMAINS = { route: "/domains", idKey: "domain_id" } as const;

/** How many a page holds where nothing is said: rows are short. */
const PAGE = 50;

/** How the tools of this service are answered. */
export const bindings = [
  unary(WordService.method.listLabels, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamTag>(
      platform,
      tenant,
      {
        route: "/tags/search",
        idKey: "tag_id",
        query: r.query,
        textsOf: (row) => [row.tag_name],
        order: {
          sorts: [{ property: "tag_name", direction: "asc" }],
          keyOf: (row) => nameKey(row.tag_name),
          isOurs: true,
        },
        piece: 500,
      },
      { pageToken: r.pageToken, pageSize: r.pageSize ?? PAGE },
    );
    const labels = page.rows.map((row) => ({ id: row.tag_id, name: row.tag_name, color: row.tag_color ?? "" }));
    return { labels, ...page.paging };
  }),

  unary(WordService.method.listDomains, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamDomain>(
      platform,
      tenant,
      {
        ...DOMAINS,
        whole: () => wholeOf(platform, tenant, DOMAINS),
        order: {
          sorts: [{ property: "domain_name", direction: "asc" }],
          keyOf: (row) => nameKey(row.domain_name),
        },
      },
      { pageToken: r.pageToken, pageSize: r.pageSize ?? PAGE },
    );
    return { domains: page.rows.map((row) => ({ id: row.domain_id, name: row.domain_name })), ...page.paging };
  }),
];
