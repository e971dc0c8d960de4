/** Inviting: first the keys are looked at, then two people compare their fingerprint, and only then is it signed. */
import { useState } from 'react'
import type { Role } from '../../../../core/grant.ts'
import { mayChangeMember } from '../../../../sigchain/member_rules.ts'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.members
const roles: readonly Role[] = ['member', 'read_only', 'admin', 'owner']

type Person = Returned<'members.person'>
type Members = Returned<'members.list'>['members']
type Props = { workspaceId: string; ownRole: Role; members: Members }

export function InvitePanel({ workspaceId, ownRole, members }: Props) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const look = useCommand('members.person')
  const pending = members.find((member) => member.email === email.toLowerCase())?.role ?? null
  const possible = roles.filter((each) =>
    mayChangeMember(ownRole, { kind: 'invite', role: each, pending }),
  )
  const submit = () => {
    look.mutate({ workspaceId, email })
  }
  const done = () => {
    setEmail('')
    look.reset()
  }
  return (
    <section className="stack" aria-labelledby="invite">
      <h2 id="invite">{words.invite.title}</h2>
      <FieldForm className="row" onSubmit={submit}>
        <TextField
          label={words.email}
          type="email"
          autoComplete="off"
          isRequired
          value={email}
          onChange={(text) => {
            setEmail(text)
            look.reset()
          }}
        />
        <Select<Role>
          label={words.role}
          options={possible.map((id) => ({ id, label: words.roles[id] }))}
          value={role}
          onChange={setRole}
        />
        <Button type="submit" isPending={look.isPending}>
          {words.invite.look}
        </Button>
      </FieldForm>
      <p className="soft">{words.mayDo[role]}</p>
      {look.error ? <FailureNote error={look.error} /> : null}
      {look.data ? (
        <Comparison workspaceId={workspaceId} person={look.data} role={role} done={done} />
      ) : null}
    </section>
  )
}

type ComparisonProps = { workspaceId: string; person: Person; role: Role; done(): void }

function Comparison({ workspaceId, person, role, done }: ComparisonProps) {
  const { email, fingerprint, isMember } = person
  const invite = useCommand('members.invite', { changes: ['members.list', 'history.read'] })
  if (isMember) return <p role="status">{words.invite.already(email)}</p>
  const send = () =>
    invite.mutate(
      { workspaceId, email, role, fingerprint },
      {
        onSuccess: () => {
          say(words.invite.invited(email))
          done()
        },
      },
    )
  return (
    <Banner kind="warning">
      <div className="stack">
        <p>{words.invite.compare(email)}</p>
        <p>
          <code className="fingerprint">{fingerprint}</code>
        </p>
        <div className="row">
          <Button kind="primary" isPending={invite.isPending} onPress={send}>
            {words.invite.same}
          </Button>
          <Button kind="ghost" onPress={done}>
            {words.invite.other}
          </Button>
        </div>
        {invite.error ? <FailureNote error={invite.error} /> : null}
      </div>
    </Banner>
  )
}
