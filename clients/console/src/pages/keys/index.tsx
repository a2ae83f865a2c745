import { useQuery } from "@connectrpc/connect-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { Switch } from "react-aria-components";
import { type ApiKey, ApiKeyService } from "#api/auth/v1/api_key_service_pb";
import { ago, exactly, onDay } from "../../format";
import { reachOf } from "../../scopes";
import { StatusBadge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Empty, Failure, Skeleton } from "../../ui/notice";
import { Pager, usePages } from "../../ui/pager";
import { Cell, Column, Row, Table, TableBody, TableHeader } from "../../ui/table";
import { CreateKey } from "./create-key";
import { RevokeKey } from "./revoke-key";

/** My Profile > API Keys. */
export function Page() {
  const pages = usePages();
  const [withRevoked, setWithRevoked] = useState(false);
  const [isCreating, setCreating] = useState(false);
  const [isShown, setShown] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey>();
  const request = { includeRevoked: withRevoked, pageSize: 25, pageToken: pages.token };
  const { data, error, isPending, refetch } = useQuery(ApiKeyService.method.listApiKeys, request);
  const keys = data?.keys ?? [];

  return (
    <>
      <div className="head">
        <div>
          <h1>API Keys</h1>
          <p>A key lets one client act as you on every server that you may use. Make one for each client.</p>
        </div>
        <Button look="primary" onPress={() => setCreating(true)}>
          <Plus size={16} aria-hidden />
          New key
        </Button>
      </div>
      {error ? (
        <Failure error={error} what="Your keys" retry={() => void refetch()} />
      ) : isPending ? (
        <Skeleton what="your keys" />
      ) : keys.length === 0 && !withRevoked && pages.isFirst ? (
        <Empty
          icon={KeyRound}
          title="You have no API key"
          action={
            <Button look="primary" onPress={() => setCreating(true)}>
              Create your first key
            </Button>
          }
        >
          Clients sign in with one: create it, then copy a ready configuration from MCP Endpoint.
        </Empty>
      ) : (
        <>
          <KeyTable
            keys={keys}
            withRevoked={withRevoked}
            onShowRevoked={(shown) => {
              setWithRevoked(shown);
              pages.restart();
            }}
            onRevoke={setRevoking}
            total={pages.isFirst && data.nextPageToken === "" ? keys.length : undefined}
          />
          <Pager pages={pages} nextToken={data.nextPageToken} />
        </>
      )}
      <Dialog
        isOpen={isCreating}
        isHeld={isShown}
        onClose={() => {
          setCreating(false);
          setShown(false);
        }}
      >
        {(close) => <CreateKey close={close} onMade={() => setShown(true)} />}
      </Dialog>
      <Dialog isOpen={revoking !== undefined} isAlert onClose={() => setRevoking(undefined)}>
        {(close) => revoking && <RevokeKey apiKey={revoking} close={close} />}
      </Dialog>
    </>
  );
}

function KeyTable({
  keys,
  withRevoked,
  onShowRevoked,
  onRevoke,
  total,
}: {
  keys: readonly ApiKey[];
  withRevoked: boolean;
  onShowRevoked: (shown: boolean) => void;
  onRevoke: (key: ApiKey) => void;
  /** How many there are; undefined if this page does not have all. */
  total: number | undefined;
}) {
  const live = keys.filter(({ revokedAt }) => revokedAt === undefined).length;
  const counted = live === 1 ? "1 active key" : `${live} active keys`;
  return (
    <div className="panel">
      <div className="panel-bar">
        <span>{total === undefined ? `${counted} on this page` : counted}</span>
        <Switch className="switch" isSelected={withRevoked} onChange={onShowRevoked}>
          <span className="track" />
          Show revoked
        </Switch>
      </div>
      <Table aria-label="API keys" className="table">
        <TableHeader>
          <Column>Name</Column>
          <Column>Reaches</Column>
          <Column>Created</Column>
          <Column>Last used</Column>
          <Column>Expires</Column>
          <Column>
            <span className="sr">Actions</span>
          </Column>
        </TableHeader>
        <TableBody>
          {keys.map((key) => (
            <Row key={key.id} className={key.revokedAt ? "dim" : ""}>
              <Cell isHeader>
                <b>{key.name}</b>
              </Cell>
              <Cell>{key.scopes.length === 0 ? "Everything of yours" : reachOf(key.scopes)}</Cell>
              <Cell>{key.createdAt && <time title={exactly(key.createdAt)}>{ago(key.createdAt)}</time>}</Cell>
              <Cell>
                {key.lastUsedAt ? (
                  <time title={exactly(key.lastUsedAt)}>{ago(key.lastUsedAt)}</time>
                ) : (
                  <span className="faint">Never</span>
                )}
              </Cell>
              <Cell>{key.expiresAt ? onDay(key.expiresAt) : <span className="faint">Never</span>}</Cell>
              <Cell className="end">
                {key.revokedAt ? (
                  <StatusBadge status="revoked" />
                ) : (
                  <Button look="quiet" onPress={() => onRevoke(key)} aria-label={`Revoke ${key.name}`}>
                    Revoke
                  </Button>
                )}
              </Cell>
            </Row>
          ))}
        </TableBody>
      </Table>
    </div>
  );
}
