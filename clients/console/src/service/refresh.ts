import type { DescMethodUnary } from "@bufbuild/protobuf";
import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";

/** What has every list of these methods read again. */
export function useRefresh(...methods: readonly DescMethodUnary[]): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    const keys = methods.map((schema) => createConnectQueryKey({ schema, cardinality: "finite" }));
    await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
  };
}
