import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ArticleSchema, ArticleService } from "#proto/aev/v1/article_service_pb.js";
import { unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { documentIds, documentNames } from "../attached-documents.js";
import { listPage, numberKey, type Order } from "../list.js";
import { type Plan, planOf } from "../plan.js";
import { type Delays, publicationsOf, publishedAt } from "../publications.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import { CHANNEL, listedOf, needListed, wholeOf } from "../whole.js";

interface UpstreamArticle {
  readonly article_id: string;
  readonly article_name: string;
  readonly article_channel: string;
  readonly article_author: string | null;
  readonly article_content: string | null;
  readonly article_shares: number | null;
  readonly article_likes: number | null;
  readonly article_comments: number | null;
  readonly article_documents: readonly string[] | null;
  readonly article_virtual_publication: string | null;
}

function latestFirst(delays: Delays): Order<UpstreamArticle> {
  return {
    sorts: [{ property: "article_virtual_publication", direction: "desc" }],
    keyOf: ({ article_id: id }) => (delays.has(id) ? numberKey(delays.get(id)) : undefined),
  };
}

const { listArticles, getArticle, createArticle, updateArticle, deleteArticle } = ArticleService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listArticles, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const plan = await planOf(platform, tenant, r.parent);
    const articles = articlesOf(plan);
    const delays = await publicationsOf(platform, tenant, plan);
    const page = await listPage<UpstreamArticle>(
      platform,
      tenant,
      {
        route: articles.route,
        whole: () => wholeOf(platform, tenant, articles),
        idKey: "article_id",
        query: r.query,
        textsOf: (row) => [row.article_name, row.article_author, row.article_content],
        order: latestFirst(delays),
      },
      r,
    );
    return { articles: page.rows.map((row) => toRow(row, plan, delays)), ...page.paging };
  }),

  unary(getArticle, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const plan = await planOf(platform, tenant, r.parent);
    return {
      article: await shown(platform, tenant, plan, await listedOf(platform, tenant, articlesOf(plan), r.articleId)),
    };
  }),

  unary(createArticle, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const plan = await planOf(platform, tenant, r.parent);
    const { route } = articlesOf(plan);
    await needListed(platform, tenant, CHANNEL, r.channelId);
    const created = await platform.rest({
      verb: "POST",
      path: tenant.path(route),
      body: {
        article_channel: r.channelId.toLowerCase(),
        article_name: r.name.trim(),
        article_content: r.content,
        article_author: r.author,
        article_shares: r.shares,
        article_likes: r.likes,
        article_comments: r.comments,
        article_documents: await documentIds(platform, tenant, r.documentIds),
      },
    });
    return { article: await shown(platform, tenant, plan, objectOf(platform.server, created, "article_id")) };
  }),

  writingBack(
    updateArticle,
    (r) => [r.articleId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const plan = await planOf(platform, tenant, r.parent);
      const articles = articlesOf(plan);
      const before = await listedOf<UpstreamArticle>(platform, tenant, articles, r.articleId);
      if (r.channelId !== undefined) await needListed(platform, tenant, CHANNEL, r.channelId);
      const documents = await documentIds(platform, tenant, r.documentIds);
      const changed = await platform.rest<UpstreamArticle>({
        verb: "PUT",
        path: tenant.path(`${articles.route}/${before.article_id}`),
        body: {
          article_channel: r.channelId?.toLowerCase() ?? before.article_channel,
          article_name: r.name?.trim() ?? before.article_name,
          article_content: r.content ?? before.article_content,
          article_author: r.author ?? before.article_author,
          article_shares: r.shares ?? before.article_shares,
          article_likes: r.likes ?? before.article_likes,
          article_comments: r.comments ?? before.article_comments,
          article_documents: r.clearDocuments || documents.length > 0 ? documents : (before.article_documents ?? []),
        },
      });
      return { article: await shown(platform, tenant, plan, objectOf(platform.server, changed, "article_id")) };
    },
  ),

  unary(deleteArticle, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const articles = articlesOf(await planOf(platform, tenant, r.parent));
    const found = await listedOf<UpstreamArticle>(platform, tenant, articles, r.articleId);
    const { article_id: id, article_name: name } = found;
    await platform.rest<void>({ verb: "DELETE", path: tenant.path(`${articles.route}/${id}`) });
    return { deleted: { id, name } };
  }),
];

function articlesOf({ route, noun }: Plan) {
  return { noun: `article of this ${noun}`, route: `${route}/articles`, idKey: "article_id" };
}

function toRow(row: UpstreamArticle, plan: Plan, delays: Delays) {
  const delay = delays.get(row.article_id);
  return {
    id: row.article_id,
    name: row.article_name,
    channel: { id: row.article_channel },
    author: row.article_author ?? "",
    ...given({
      publishDelaySeconds: delay,
      publishedAt: publishedAt(plan, delay, row.article_virtual_publication),
    }),
  } satisfies MessageInitShape<typeof ArticleSchema>;
}

/** Names of its channel and documents are told where the caller may read those. */
async function shown(
  platform: Platform,
  tenant: TenantScope,
  plan: Plan,
  row: UpstreamArticle,
): Promise<MessageInitShape<typeof ArticleSchema>> {
  const ids = row.article_documents ?? [];
  const none: ReadonlyMap<string, string> = new Map();
  const delays = await publicationsOf(platform, tenant, plan).catch((): Delays => new Map());
  const names = await documentNames(platform, tenant, ids).catch(() => none);
  const channel = await listedOf<{ readonly channel_name: string }>(
    platform,
    tenant,
    CHANNEL,
    row.article_channel,
  ).catch(() => undefined);
  return {
    ...toRow(row, plan, delays),
    content: row.article_content ?? "",
    channel: { id: row.article_channel, ...given({ name: channel?.channel_name }) },
    documents: ids.map((id) => ({ id, ...given({ name: names.get(id) }) })),
    ...given({ shares: row.article_shares, likes: row.article_likes, comments: row.article_comments }),
  };
}
