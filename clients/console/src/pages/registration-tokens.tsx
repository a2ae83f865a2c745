import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { Heading } from "react-aria-components";
import {
  CreateRegistrationTokenRequestSchema,
  type RegistrationToken,
  SettingService,
} from "#api/catalogue/v1/setting_service_pb";
import { ago, onDay } from "../format";
import { useRefresh } from "../service/refresh";
import { Button } from "../ui/button";
import { Confirm } from "../ui/confirm";
import { CopyButton } from "../ui/copy";
import { Dialog } from "../ui/dialog";
import { MessageForm } from "../ui/message-form";
import { Failure, Skeleton } from "../ui/notice";
import { Cell, Column, Row, Table, TableBody, TableHeader } from "../ui/table";
import { tell } from "../ui/toasts";

const { listRegistrationTokens, createRegistrationToken, revokeRegistrationToken } = SettingService.method;

/** The tokens with which platforms register themselves. */
export function RegistrationTokens() {
  const { data, error, isPending, refetch } = useQuery(listRegistrationTokens, { pageSize: 100 });
  const [isCreating, setCreating] = useState(false);
  const [isShown, setShown] = useState(false);
  const [revoking, setRevoking] = useState<RegistrationToken>();
  if (error) return <Failure error={error} what="The registration tokens" retry={() => void refetch()} />;
  if (isPending) return <Skeleton what="the registration tokens" />;
  return (
    <section className="panel" aria-labelledby="tokens">
      <div className="panel-bar">
        <h2 id="tokens">Registration tokens</h2>
        <Button onPress={() => setCreating(true)}>New token</Button>
      </div>
      {data.tokens.length === 0 ? (
        <p className="note">There is none. Create a token and give it to a platform: it registers itself with it.</p>
      ) : (
        <Table aria-labelledby="tokens" className="table">
          <TableHeader>
            <Column>Name</Column>
            <Column>Server</Column>
            <Column>Platform</Column>
            <Column>Last used</Column>
            <Column>Expires unused</Column>
            <Column>
              <span className="sr">Actions</span>
            </Column>
          </TableHeader>
          <TableBody>
            {data.tokens.map((token) => (
              <Row key={token.id}>
                <Cell isHeader>
                  <b>{token.name}</b>
                </Cell>
                <Cell>{token.server || "Its first use decides"}</Cell>
                <Cell>{token.platformUrl || <span className="faint">Not used</span>}</Cell>
                <Cell>{token.lastUsedAt ? ago(token.lastUsedAt) : <span className="faint">Never</span>}</Cell>
                <Cell>{token.expiresAt ? onDay(token.expiresAt) : <span className="faint">Never</span>}</Cell>
                <Cell className="end">
                  {!token.configured && (
                    <Button look="quiet" onPress={() => setRevoking(token)} aria-label={`Revoke ${token.name}`}>
                      Revoke
                    </Button>
                  )}
                </Cell>
              </Row>
            ))}
          </TableBody>
        </Table>
      )}
      <Dialog
        isOpen={isCreating}
        isHeld={isShown}
        onClose={() => {
          setCreating(false);
          setShown(false);
        }}
      >
        {(close) => <CreateToken close={close} onMade={() => setShown(true)} />}
      </Dialog>
      <Dialog isOpen={revoking !== undefined} isAlert onClose={() => setRevoking(undefined)}>
        {(close) => revoking && <RevokeToken token={revoking} close={close} />}
      </Dialog>
    </section>
  );
}

function CreateToken({ close, onMade }: { close: () => void; onMade: () => void }) {
  const refresh = useRefresh(listRegistrationTokens);
  const create = useMutation(createRegistrationToken, {
    onSuccess: () => {
      onMade();
      return refresh();
    },
  });
  if (create.data) {
    return (
      <>
        <Heading slot="title">Copy the token now</Heading>
        <p>This is the only time that it is shown. Only the first platform that uses it can use it again.</p>
        <div className="secret">
          <code>{create.data.token}</code>
          <CopyButton text={create.data.token} what="registration token" />
        </div>
        <div className="actions">
          <Button look="primary" onPress={close} autoFocus>
            I have saved it
          </Button>
        </div>
      </>
    );
  }
  return (
    <MessageForm
      schema={CreateRegistrationTokenRequestSchema}
      fields={FIELDS}
      initial={{ server: "cti" }}
      title={TITLE}
      submit="Create token"
      failed="The token was not created"
      work={{ isPending: create.isPending, error: create.error, run: (values) => create.mutate(values) }}
      close={close}
    />
  );
}

const TITLE = "New registration token";
const FIELDS = {
  name: { label: "Name", help: "Such as that of the platform: OpenCTI in Paris.", isRequired: true },
  server: { label: "Server", choices: ["cti", "aev", "grc"].map((id) => ({ id, name: id })) },
};

function RevokeToken({ token, close }: { token: RegistrationToken; close: () => void }) {
  const refresh = useRefresh(listRegistrationTokens);
  const { isPending, error, mutate } = useMutation(revokeRegistrationToken, {
    onSuccess: () => {
      tell(`“${token.name}” is revoked`);
      close();
      return refresh();
    },
  });
  return (
    <Confirm
      title={`Revoke “${token.name}”?`}
      keep="Keep it"
      doIt="Revoke token"
      failed="The token was not revoked"
      work={{ isPending, error, run: () => mutate({ id: token.id }) }}
      close={close}
    >
      <p>
        A platform that it registered stays registered, and no other token registers it until it is forgotten. This
        cannot be undone.
      </p>
    </Confirm>
  );
}
