/** The sheet or dialog that the address asks for, if the person's role allows it. */
import type { ReactNode } from 'react'
import type { Permission } from '../../../../../core/grant.ts'
import { Reconnect } from '../connect/reconnect.tsx'
import { type PaneProps, useMayHere, useParameter } from '../place.ts'
import { Importing } from '../transfers/importing.tsx'
import { AddSecret } from './add.tsx'
import { Compare } from './compare.tsx'
import { Copying } from './copying.tsx'
import { Deleted } from './deleted.tsx'
import { NewEnvironment } from './new_project.tsx'
import { RemoveEnvironment, RemoveProject } from './removing.tsx'
import { RemoveSelected, SetPolicies } from './selected.tsx'

type Props = PaneProps & {
  project: string
  /** Dropped on the screen. */
  file: File | null
  clear(): void
}

type Pane = { needs: Permission; needsKeys?: true; content(props: Props): ReactNode }

const panes: Record<string, Pane> = {
  new: { needs: 'secret.write', content: (props) => <AddSecret {...props} /> },
  connect: { needs: 'secret.write', content: (props) => <AddSecret {...props} /> },
  reconnect: { needs: 'secret.write', content: (props) => <Reconnect {...props} /> },
  import: { needs: 'secret.write', content: (props) => <Importing {...props} /> },
  compare: { needs: 'secret.read', content: (props) => <Compare {...props} /> },
  deleted: { needs: 'secret.read', content: (props) => <Deleted {...props} /> },
  copy: {
    needs: 'secret.write',
    needsKeys: true,
    content: (props) => <Copying {...props} />,
  },
  policy: {
    needs: 'secret.write',
    needsKeys: true,
    content: (props) => <SetPolicies {...props} />,
  },
  remove: {
    needs: 'secret.write',
    needsKeys: true,
    content: (props) => <RemoveSelected {...props} />,
  },
  environment: {
    needs: 'project.write',
    content: ({ place }) => <NewEnvironment place={place} />,
  },
  'delete-environment': {
    needs: 'project.delete',
    content: ({ place, project }) => <RemoveEnvironment place={place} name={project} />,
  },
  'delete-project': {
    needs: 'project.delete',
    content: ({ place, project }) => <RemoveProject place={place} name={project} />,
  },
}

export function Sheets(props: Props) {
  const pane = useParameter('pane') ?? ''
  const key = useParameter('key')
  const found = Object.hasOwn(panes, pane) ? panes[pane] : undefined
  const may = useMayHere(found?.needs ?? 'secret.read')
  // With a secret in the inspector, its own sheet is meant.
  const hasKeys = props.keys.length > 0 && key === undefined
  if (!found || !may || (found.needsKeys && !hasKeys)) return null
  return found.content(props)
}
