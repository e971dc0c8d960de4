/** Where a person comes in: their workspaces and what they are invited to, and making, naming and ending them. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Changes, type Workspace } from './changes.tsx'
import { WorkspaceNotices } from './notices.tsx'

const words = texts.workspaces

export function Workspaces() {
  const { data, error } = useAsk('workspaces.list', null)
  if (error) {
    return (
      <section className="stack">
        <h1>{words.title}</h1>
        <FailureNote error={error} />
      </section>
    )
  }
  if (!data) return <Loading />
  const invited = data.filter(({ status }) => status === 'invited')
  const mine = data.filter(({ status }) => status !== 'invited')
  return (
    <section className="stack">
      <h1>{words.title}</h1>
      <WorkspaceNotices />
      {invited.length > 0 ? <Invitations invited={invited} /> : null}
      <ul className="plain-list stack workspaces" aria-label={words.mine}>
        {mine.map((workspace) => (
          <Row key={workspace.id} workspace={workspace} />
        ))}
      </ul>
      <Create />
    </section>
  )
}

function Row({ workspace }: { workspace: Workspace }) {
  const { id, name, role, type, isSigned, fault } = workspace
  const params = { workspaceId: id }
  const about = [
    words.role(texts.members.roles[role]),
    ...(type === 'personal' ? [words.personal] : []),
    ...(isSigned ? [] : [words.plain]),
  ]
  return (
    <li className="stack">
      <div>
        <Link to="/w/$workspaceId/secrets" params={params}>
          {name}
        </Link>{' '}
        <Link to="/w/$workspaceId/first-steps" params={params} className="soft">
          {texts.firstSteps.open}
        </Link>{' '}
        <span className="soft small">{about.join(' · ')}</span>
      </div>
      {fault ? (
        <Banner kind="danger">
          <p>{words.broken}</p>
          <p>{fault}</p>
          <Link to="/w/$workspaceId/history" params={params}>
            {words.history}
          </Link>
        </Banner>
      ) : null}
      <Changes workspace={workspace} />
    </li>
  )
}

function Invitations({ invited }: { invited: readonly Workspace[] }) {
  return (
    <section className="stack" aria-labelledby="invitations">
      <h2 id="invitations">{words.invitations}</h2>
      <ul className="plain-list stack">
        {invited.map(({ id, name, role }) => (
          <li key={id} className="row">
            <span>{words.invited(name, texts.members.roles[role])}</span>
            <Link to="/invitation" search={{ workspace: id }}>
              {words.look}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Create() {
  const [name, setName] = useState('')
  const create = useCommand('workspaces.create', { changes: ['workspaces.list'] })
  const submit = () => {
    create.mutate({ name }, { onSuccess: () => setName('') })
  }
  return (
    <section className="stack" aria-labelledby="create">
      <h2 id="create">{words.create}</h2>
      <FieldForm className="row" onSubmit={submit}>
        <TextField
          label={words.name}
          help={words.createHelp}
          isRequired
          value={name}
          onChange={setName}
        />
        <Button type="submit" isPending={create.isPending}>
          {words.create}
        </Button>
      </FieldForm>
      {create.error ? <FailureNote error={create.error} /> : null}
    </section>
  )
}
