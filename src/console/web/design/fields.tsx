/** Fields with their labels, hints and errors. */
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Checkbox, Choices } from '../parts/fields/checkbox.tsx'
import { ComboBox } from '../parts/fields/combo_box.tsx'
import { PasswordField } from '../parts/fields/password_field.tsx'
import { RadioCards } from '../parts/fields/radio_cards.tsx'
import { SearchField } from '../parts/fields/search_field.tsx'
import { Segmented } from '../parts/fields/segmented.tsx'
import { Select } from '../parts/fields/select.tsx'
import { SuggestField } from '../parts/fields/suggest_field.tsx'
import { TextArea } from '../parts/fields/text_area.tsx'
import { TextField } from '../parts/fields/text_field.tsx'
import { TokenField } from '../parts/fields/token_field.tsx'
import { FieldForm } from '../parts/form.tsx'
import { Specimen, SpecimenGroup } from './specimen.tsx'

const ENVIRONMENTS = ['development', 'staging', 'production'].map((id) => ({
  id,
  label: id,
  env: id,
}))
const THINGS = [
  { id: 'agent', kind: 'Agent', label: 'deploy-bot' },
  { id: 'host', kind: 'Host', label: 'api.github.com' },
]
const RANGES = [
  {
    id: 'narrow',
    title: 'Only with SLACK_BOT_TOKEN',
    help: 'Also limits that secret to this host.',
  },
  { id: 'wide', title: 'With any secret', help: '3 secrets have no host limit.' },
]

export function Fields() {
  return (
    <SpecimenGroup title="Fields">
      <Specimen
        of={['fields/text_field', 'fields/labelled', 'form']}
        rule="Label above, error below; an empty form is never sent."
      >
        <NameForm />
      </Specimen>
      <Specimen
        of={['fields/text_area', 'fields/password_field']}
        rule="Several lines, in the fixed-width font; passwords are judged."
      >
        <LongFields />
      </Specimen>
      <Specimen of={['fields/select', 'fields/options', 'fields/combo_box']} rule="One of several.">
        <Lists />
      </Specimen>
      <Specimen of={['fields/token_field']} rule="Enter or a comma adds, Backspace removes.">
        <Hosts />
      </Specimen>
      <Specimen of={['fields/checkbox']} rule="A tick in 16 px; a press on its text counts.">
        <Ticks />
      </Specimen>
      <Specimen of={['fields/segmented']} rule="One of two to five views; full width on phones.">
        <Environments />
      </Specimen>
      <Specimen of={['fields/search_field']} rule="220 px in a toolbar; / leads to it.">
        <Search />
      </Specimen>
      <Specimen of={['fields/suggest_field']} rule="Finds one of many things by typing.">
        <SuggestField
          label="Filter audit log"
          placeholder="Agent, host or secret"
          suggest={(text) => THINGS.filter(({ label }) => text !== '' && label.includes(text))}
          onChoose={() => {}}
        />
      </Specimen>
      <Specimen of={['fields/radio_cards']} rule="The narrowest choice comes first.">
        <HowFar />
      </Specimen>
    </SpecimenGroup>
  )
}

function NameForm() {
  const [name, setName] = useState('')
  return (
    <FieldForm className="flex w-full flex-col gap-3" onSubmit={() => {}}>
      <TextField
        label="Name"
        help="As agents write it."
        isRequired
        mono
        value={name}
        onChange={setName}
      />
      <TextField label="Host" error="Enter a host like api.example.com." defaultValue="https://" />
      <Button type="submit">Save</Button>
    </FieldForm>
  )
}

function LongFields() {
  const [password, setPassword] = useState('')
  return (
    <div className="flex w-full flex-col gap-3">
      <TextArea label="Value" defaultValue="first line" />
      <PasswordField
        label="Password"
        email="ada@example.com"
        value={password}
        onChange={setPassword}
        onJudged={() => {}}
      />
    </div>
  )
}

function Lists() {
  const [environment, setEnvironment] = useState<string | null>(null)
  const [host, setHost] = useState('api.github.com')
  return (
    <div className="flex w-full flex-col gap-3">
      <Select
        label="Environment"
        options={ENVIRONMENTS}
        value={environment}
        onChange={setEnvironment}
      />
      <ComboBox
        label="Allowed host"
        options={['api.github.com', 'api.stripe.com'].map((id) => ({ id, label: id }))}
        value={host}
        onChange={setHost}
        allowsOther
      />
    </div>
  )
}

function Hosts() {
  const [hosts, setHosts] = useState(['api.github.com'])
  const hostOf = (text: string) => text.replace(/^https?:\/\//, '').replace(/\/.*$/, '')
  return (
    <div className="w-full">
      <TokenField
        label="Hosts"
        values={hosts}
        onChange={setHosts}
        suggestions={['api.stripe.com', 'hooks.slack.com']}
        normalize={hostOf}
        validate={(host) => (host.includes('.') ? null : 'Enter a host like api.example.com.')}
      />
    </div>
  )
}

function Ticks() {
  const [isOn, setOn] = useState(true)
  const [methods, setMethods] = useState(['GET'])
  const options = ['GET', 'POST', 'DELETE'].map((id) => ({ id, label: id }))
  return (
    <div className="flex flex-col gap-3">
      <Checkbox isSelected={isOn} onChange={setOn}>
        Use the same value everywhere
      </Checkbox>
      <Checkbox isSelected={false} isIndeterminate onChange={() => {}}>
        Some rows
      </Checkbox>
      <Choices label="Methods" options={options} value={methods} onChange={setMethods} />
    </div>
  )
}

function Environments() {
  const [environment, setEnvironment] = useState('development')
  return (
    <Segmented
      label="Environment"
      options={ENVIRONMENTS}
      value={environment}
      onChange={setEnvironment}
    />
  )
}

function Search() {
  const [text, setText] = useState('')
  return (
    <SearchField
      label="Filter secrets"
      placeholder="Filter 60 secrets"
      shortcut="/"
      value={text}
      onChange={setText}
    />
  )
}

function HowFar() {
  const [range, setRange] = useState('narrow')
  return (
    <div className="w-full">
      <RadioCards label="How far" options={RANGES} value={range} onChange={setRange} />
    </div>
  )
}
