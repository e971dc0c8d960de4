/** Where a person comes in: their workspaces. */
import { Link } from '@tanstack/react-router'
import { FailureNote } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

export function Workspaces() {
  const { data, error } = useAsk('workspaces.list', null)
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  return (
    <section className="stack">
      <h1>{texts.workspaces.title}</h1>
      <ul>
        {data.map(({ id, name, fault }) => (
          <li key={id}>
            <Link to="/w/$workspaceId/secrets" params={{ workspaceId: id }}>
              {name}
            </Link>
            {fault ? <p className="note note-danger">{fault}</p> : null}
          </li>
        ))}
      </ul>
    </section>
  )
}
