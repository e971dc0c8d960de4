/** Deleting projects and environments. */
import { listed, secretsHeld } from './counts.ts'

type Held = { name: string; secrets: number; hasMore: boolean }

export const removing = {
  project: 'Delete the project…',
  environment: 'Delete the environment…',
  verb: 'Delete',
  title: (name: string) => `Delete ${name}?`,
  environmentOf: (project: string) => `Delete an environment of ${project}?`,
  ofProject: (held: readonly Held[]) =>
    `Lost: ${secretsHeld(
      held.reduce((sum, { secrets }) => sum + secrets, 0),
      held.some(({ hasMore }) => hasMore),
    )}, with the environments ${listed(
      held.map(({ name, secrets, hasMore }) => `${name} (${secrets}${hasMore ? '+' : ''})`),
    )}. Programs that use them fail from now on.`,
  ofEnvironment: ({ name, secrets, hasMore }: Held) =>
    `Lost: ${name}, with ${secretsHeld(secrets, hasMore)}. Programs that use them fail from now on.`,
  agents: (names: readonly string[]) => `These agents are deleted: ${listed(names)}.`,
  tokens: (names: readonly string[]) =>
    names.length === 0 ? 'No token ends with it.' : `These tokens end for good: ${listed(names)}.`,
  token: (label: string, agent: string | null) => (agent === null ? label : `${label} of ${agent}`),
  restoreProject: (name: string) =>
    `For 7 days project and secrets can be restored at a terminal, agents and tokens not: cloakroom project restore ${name}`,
  restoreEnvironment: (name: string) =>
    `For 7 days its secrets can be restored at a terminal, tokens not: cloakroom secrets undelete -e ${name}`,
  done: (name: string) => `${name} is deleted.`,
  wasGone: (name: string) => `${name} was gone already: somebody else has deleted it.`,
}
