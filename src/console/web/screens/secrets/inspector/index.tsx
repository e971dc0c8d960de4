/** One secret in one environment: its value, its versions and its policy. */
import { Inspector } from '../../../parts/page/inspector.tsx'
import { EnvironmentLabel } from '../../../parts/show/environment_label.tsx'
import { Tabs } from '../../../parts/tabs.tsx'
import { texts } from '../../../texts/index.ts'
import { type Matrix, type Project, useGo, useMayHere } from '../place.ts'
import { Remove } from '../remove.tsx'
import { PolicyOf } from './policies.tsx'
import { Value } from './value.tsx'
import { Versions } from './versions.tsx'

const words = texts.secrets

type Props = { place: Project; matrix: Matrix; name: string; environment: string }

export function SecretInspector({ place, matrix, name, environment }: Props) {
  const go = useGo()
  const cell = matrix.rows.find(({ key }) => key === name)?.cells[environment]
  const writes = useMayHere('secret.write')
  const at = { ...place, environment }
  const missing = <p>{words.isMissing}</p>
  const contents = {
    value: <Value place={place} name={name} environment={environment} cell={cell} />,
    versions: cell ? <Versions place={{ ...at, key: name }} /> : missing,
    policy: cell ? <PolicyOf place={at} name={name} cell={cell} /> : missing,
  }
  return (
    <Inspector
      title={name}
      isMono
      badge={<EnvironmentLabel name={environment} />}
      onClose={() => go({ key: undefined })}
      footer={cell && writes ? <Remove place={at} keys={[name]} /> : undefined}
    >
      <div className="px-4 pb-4">
        <Tabs
          label={words.inEnvironment(name, environment)}
          tabs={(['value', 'versions', 'policy'] as const).map((id) => ({
            id,
            label: words.tabs[id],
            content: contents[id],
          }))}
        />
      </div>
    </Inspector>
  )
}
