import { useQuery } from "@connectrpc/connect-query";
import { Outlet } from "@tanstack/react-router";
import { ApiKeyService } from "#api/auth/v1/api_key_service_pb";
import { Failure, Notice, Skeleton } from "../ui/notice";
import type { Entry } from "./navigation";

/** A page for administrators. To others it says so, and asks the service for nothing. */
export function ForAdministrators({ page }: { page: Entry }) {
  const { data, error, refetch } = useQuery(ApiKeyService.method.whoAmI, {}, { staleTime: 60_000 });
  if (data?.caller?.admin === true) return <Outlet />;
  return (
    <>
      <div className="head">
        <h1>{page.label}</h1>
      </div>
      {data !== undefined ? (
        <Notice title="You may not see this">Ask an administrator.</Notice>
      ) : error ? (
        <Failure error={error} what="What you may do" retry={() => void refetch()} />
      ) : (
        <Skeleton what="what you may do" />
      )}
    </>
  );
}
