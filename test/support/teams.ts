/** Shared workspaces with people in them, created through the endpoints. */
import { randomBytes } from 'node:crypto'
import type { Role } from '../../src/core/grant.ts'
import {
  acceptInvitation,
  createWorkspaceEndpoint,
  inviteMembersEndpoint,
} from '../../src/features/workspaces/contract.ts'
import type { TestApp } from './app.ts'
import { envelopeFor, type Person, registerPerson } from './people.ts'

export type Team = {
  workspaceId: string
  workspaceKey: Uint8Array
  owner: Person
  /** Invites a person, who has not answered yet. */
  invite(person: Person, role: Role): Promise<void>
  /** Registers a person who is a member immediately. */
  join(role: Role): Promise<Person>
}

export async function openTeam(app: TestApp, owner?: Person): Promise<Team> {
  const founder = owner ?? (await registerPerson(app, 'owner'))
  const workspaceId = Bun.randomUUIDv7()
  const workspaceKey = new Uint8Array(randomBytes(32))
  const place = { workspaceId, workspaceKey }
  await founder.api.call(createWorkspaceEndpoint, {
    body: {
      id: workspaceId,
      name: 'Team',
      encrypted_workspace_key: await envelopeFor(founder, place),
    },
  })
  const params = { workspace_id: workspaceId }
  const invite = async (person: Person, role: Role) => {
    const encrypted_workspace_key = await envelopeFor(person, place)
    await founder.api.call(inviteMembersEndpoint, {
      params,
      body: { email: person.email, role, encrypted_workspace_key },
    })
  }
  const join = async (role: Role) => {
    const person = await registerPerson(app, role.replace('_', '-'))
    await invite(person, role)
    await person.api.call(acceptInvitation, { params })
    return person
  }
  return { workspaceId, workspaceKey, owner: founder, invite, join }
}
