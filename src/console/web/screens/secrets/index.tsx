/** The secrets of one environment: an example of a screen that reads, reveals and writes. */
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Form } from 'react-aria-components'
import { ask } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Reveal } from '../../parts/reveal.tsx'
import { TextField } from '../../parts/text_field.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const route = getRouteApi('/w/$workspaceId/secrets')

type Place = { workspaceId: string; projectId: string; environment: string }

export function Secrets() {
  const { workspaceId } = route.useParams()
  const { project, environment = 'development' } = route.useSearch()
  const { data: projects, error } = useAsk('workspaces.projects', { workspaceId })
  if (error) return <FailureNote error={error} />
  if (!projects) return <Loading />
  const chosen = projects.find(({ id }) => id === project) ?? projects[0]
  return (
    <section className="stack">
      <h1>{texts.secrets.title}</h1>
      {chosen ? (
        <Environment place={{ workspaceId, projectId: chosen.id, environment }} />
      ) : (
        <p>{texts.secrets.noProjects}</p>
      )}
    </section>
  )
}

function Environment({ place }: { place: Place }) {
  const { data, error } = useAsk('secrets.list', place)
  const [failed, setFailed] = useState<unknown>(null)
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  return (
    <>
      <Add place={place} />
      {failed ? <FailureNote error={failed} /> : null}
      {data.length === 0 ? <p className="soft">{texts.secrets.none}</p> : null}
      <ul className="plain-list">
        {data.map(({ key }) => (
          <li key={key} className="row">
            <code>{key}</code>
            <Reveal
              name={key}
              read={() => ask('secrets.reveal', { ...place, key })}
              onError={setFailed}
            />
          </li>
        ))}
      </ul>
    </>
  )
}

function Add({ place }: { place: Place }) {
  const [key, setKey] = useState('')
  const [value, setValue] = useState('')
  const set = useCommand('secrets.set', { changes: ['secrets.list'] })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    set.mutate(
      { ...place, secrets: [{ key, value }] },
      {
        onSuccess: () => {
          setKey('')
          setValue('')
        },
      },
    )
  }
  return (
    <Form className="row" onSubmit={submit}>
      <TextField label={texts.secrets.name} isRequired mono value={key} onChange={setKey} />
      <TextField
        label={texts.secrets.value}
        type="password"
        autoComplete="off"
        isRequired
        value={value}
        onChange={setValue}
      />
      <Button type="submit" isPending={set.isPending}>
        {texts.secrets.add}
      </Button>
      {set.error ? <FailureNote error={set.error} /> : null}
    </Form>
  )
}
