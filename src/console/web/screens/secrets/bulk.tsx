/** What can be done with the names that are selected, in one environment. */
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { texts } from '../../texts/index.ts'
import { type Matrix, type Project, secretsRoute, useGo } from './place.ts'
import { Remove } from './remove.tsx'

const words = texts.secrets

type Props = { place: Project; matrix: Matrix; keys: readonly string[]; clear(): void }

export function Bulk({ place, matrix, keys, clear }: Props) {
  const go = useGo()
  const search = secretsRoute.useSearch()
  const { environments, rows } = matrix
  const environment = environments.find((name) => name === search.environment) ?? environments[0]
  if (keys.length === 0 || environment === undefined) return null
  const there = rows
    .filter(({ key, cells }) => keys.includes(key) && cells[environment] !== undefined)
    .map(({ key }) => key)
  const open = (pane: string) => go({ pane, environment, key: undefined })
  return (
    <div className="note row">
      <strong role="status">{words.selected(keys.length)}</strong>
      <Select
        label={words.bulkIn}
        options={environments.map((id) => ({ id, label: id }))}
        value={environment}
        onChange={(chosen) => go({ environment: chosen, key: undefined }, true)}
      />
      <Button onPress={() => open('copy')}>{words.copyTo}</Button>
      <Button onPress={() => open('policy')}>{words.setPolicies}</Button>
      {there.length > 0 ? (
        <Remove place={{ ...place, environment }} keys={there} onDone={clear} />
      ) : null}
      <Button kind="quiet" onPress={clear}>
        {words.clearSelection}
      </Button>
    </div>
  )
}
