/** "cti, aev · read only": what scopes reach, in words. [] reaches all that the person may do. */
export function reachOf(scopes: readonly string[]): string {
  if (scopes.length === 0) return "Everything of theirs";
  const servers = [...new Set(scopes.filter((scope) => scope.includes(":")).map((scope) => scope.split(":")[0]))];
  const writes = scopes.some((scope) => scope.endsWith(":write"));
  return servers.length === 0 ? scopes.join(", ") : `${servers.join(", ")}${writes ? "" : " · read only"}`;
}
