import { readFileSync } from 'node:fs'
import { createClient } from '@supabase/supabase-js'
import { FILE, main } from './common.mjs'

const { SUPABASE_URL = 'https://acme.supabase.co', SUPABASE_KEY } = process.env
const supabase = createClient(SUPABASE_URL, SUPABASE_KEY)

function resultOf({ data, error }) {
  if (error) throw Object.assign(new Error(error.message), { body: JSON.stringify(error) })
  return data
}

await main({
  call: async () => console.log(JSON.stringify(resultOf(await supabase.from('things').select()))),
  upload: async () => {
    const sent = await supabase.storage.from('files').upload('file.bin', readFileSync(FILE))
    console.log(resultOf(sent).id)
  },
})
