/** The names of a workspace's things, which the palette filters in the page. */
import { listKnownHosts } from '../../../../client/actions/allowlist.ts'
import { readMembers } from '../../../../client/actions/members.ts'
import { readSecretNames } from '../../../../client/actions/secret_names.ts'
import { agentsCommands } from '../commands/agents/index.ts'
import { placeIn } from '../places.ts'
import type { UnlockedSession } from '../unlocked_session.ts'
import { tryRead } from './read_part.ts'

export const searchCommands = { things }

async function things(session: UnlockedSession, at: { workspaceId: string }) {
  const place = await placeIn(session, at.workspaceId)
  const [secrets, agents, hosts, people] = await Promise.all([
    tryRead(async () =>
      (await readSecretNames(session.api, at.workspaceId)).flatMap(
        ({ projectId, project, secrets: names }) =>
          names.map(({ key, environments }) => ({ projectId, project, key, environments })),
      ),
    ),
    tryRead(async () =>
      (await agentsCommands.list(session, at)).map(({ id, name, project }) => ({
        id,
        name,
        project,
      })),
    ),
    tryRead(() => listKnownHosts(place)),
    tryRead(async () =>
      (await readMembers(place)).map(({ user_id, email, name }) => ({
        ...{ userId: user_id, email },
        name: name ?? '',
      })),
    ),
  ])
  return { secrets, agents, hosts, people }
}
