import type { Base, DriverCollection, Filter, Look, Looked, Range, Way } from "./store.js";

/** How many are looked at first: most pages are full by then. */
const FIRST_LOOK = 20;

/**
 * What `look` promises, by queries of MongoDB: along each way an index says
 * where its next n documents end; along the one that reaches furthest the documents
 * up to there are searched.
 */
export async function lookIn<T extends Base>(driver: DriverCollection<T>, asked: Look<T>): Promise<Looked<T>> {
  const { direction, limit, most, ways } = asked;
  const found: T[] = [];
  let { range } = asked;
  let end: string | undefined;
  for (let [look, left] = [Math.min(FIRST_LOOK, most), most]; left > 0; ) {
    const { way, edge } = await furthest(driver, { ...asked, range }, Math.ceil(look / ways.length));
    const upTo = edge === undefined ? range : { ...range, [direction === 1 ? "$lte" : "$gte"]: edge };
    found.push(...(await foundAlong(driver, { ...asked, range: upTo, limit: limit - found.length }, way)));
    if (found.length >= limit || edge === undefined) return { found, end: undefined };
    end = edge;
    range = pastOf(range, edge, direction);
    left -= look;
    look = left;
  }
  return { found, end };
}

/** The way along which the next `look` documents reach furthest, and where they end; undefined if nothing is past them. */
async function furthest<T extends Base>(
  driver: DriverCollection<T>,
  { ways, order, direction, range }: Look<T>,
  look: number,
): Promise<{ readonly way: Way<T>; readonly edge: string | undefined }> {
  const edges = ways.map(async (way) => {
    const options = { sort: { [order]: direction }, hint: way.index, skip: look - 1, limit: 2 };
    const [last, next] = await driver
      .find(withRange(way.by, order, range), { ...options, projection: { [order]: 1 } })
      .toArray();
    return { way, edge: next === undefined ? undefined : (last?.[order] as string) };
  });
  return (await Promise.all(edges)).reduce((best, next) => {
    if (best.edge === undefined || next.edge === undefined) return best.edge === undefined ? best : next;
    return (direction === 1 ? next.edge > best.edge : next.edge < best.edge) ? next : best;
  });
}

function foundAlong<T extends Base>(
  driver: DriverCollection<T>,
  { ways, wanted, order, direction, range, limit, projection }: Look<T>,
  way: Way<T>,
): Promise<T[]> {
  const others = [...ways.filter((one) => one !== way).map(({ by }) => by), wanted];
  const demands = [withRange(way.by, order, range), ...others].filter((one) => Object.keys(one).length > 0);
  const filter = (demands.length === 0 ? {} : { $and: demands }) as Filter<T>;
  const options = { sort: { [order]: direction }, hint: way.index, limit, ...(projection && { projection }) };
  return driver.find(filter, options).toArray();
}

function withRange<T extends Base>(by: Filter<T>, order: string, range: Range): Filter<T> {
  return Object.keys(range).length === 0 ? by : { ...by, [order]: range };
}

function pastOf(range: Range, edge: string, direction: 1 | -1): Range {
  const { $gt, $gte, $lt, $lte, ..._ } = range;
  if (direction === 1) return { $gt: edge, ...($lt !== undefined && { $lt }), ...($lte !== undefined && { $lte }) };
  return { ...($gt !== undefined && { $gt }), ...($gte !== undefined && { $gte }), $lt: edge };
}
