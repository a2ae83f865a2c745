import { useMutation } from "@connectrpc/connect-query";
import { GroupService } from "#api/auth/v1/group_service_pb";
import { type User, UserService } from "#api/auth/v1/user_service_pb";
import { useRefresh } from "../../service/refresh";
import { Confirm } from "../../ui/confirm";
import { tell } from "../../ui/toasts";
import { leftBehindInWords } from "./left-behind";

/** Asks before a person is deleted. */
export function DeletePerson({ user, close }: { user: User; close: () => void }) {
  const refresh = useRefresh(UserService.method.listUsers, GroupService.method.listGroups);
  const { isPending, error, mutate } = useMutation(UserService.method.deleteUser, {
    onSuccess: ({ leftBehind }) => {
      tell(`${user.name} is deleted`, leftBehindInWords(leftBehind));
      close();
      return refresh();
    },
  });
  return (
    <Confirm
      title={`Delete ${user.name}?`}
      keep="Keep them"
      doIt="Delete person"
      failed="The person was not deleted"
      work={{ isPending, error, run: () => mutate({ id: user.id }) }}
      close={close}
    >
      <p>
        All keys, clients and sessions of {user.email} end with their next request. What they own stays, and can be
        handed over. This cannot be undone.
      </p>
    </Confirm>
  );
}
