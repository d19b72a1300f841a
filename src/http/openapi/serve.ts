import { LRUCache } from 'lru-cache'
import { sha256Hex } from '../../auth/secrets.ts'
import { lazy } from '../../model/lazy.ts'
import { publicText, type PublicText } from '../public-text.ts'
import { SERVER } from './server.ts'
import type { DocumentSource } from './source.ts'
import type { OpenApiDocument } from './types.ts'

const documentModule = lazy(() => import('./document.ts'))
const llmsModule = lazy(() => import('./llms.ts'))

/** For how many origins the text is kept: each client names the one under which it reaches the service. */
const ORIGINS = 8

interface Made {
  readonly document: OpenApiDocument
  /** the document as JSON, whose server is relative */
  readonly text: PublicText
  /** the same with the server of an origin */
  readonly byOrigin: LRUCache<string, PublicText>
}

/** The document, with its text. It is made when it is first asked for: a start should not wait for it. */
export class ReferenceDocument {
  readonly #source: () => DocumentSource
  #made: Promise<Made> | undefined
  #madeFor: string | undefined

  /** @param source what it is made from; another policy makes another document */
  constructor(source: () => DocumentSource) {
    this.#source = source
  }

  async document(): Promise<OpenApiDocument> {
    return (await this.#make()).document
  }

  /** The document as JSON. @param origin the public origin, which its server begins with: many generators take no relative one */
  async text(origin: string): Promise<PublicText> {
    const { text, byOrigin } = await this.#make()
    let own = byOrigin.get(origin)
    if (own === undefined) byOrigin.set(origin, (own = withServer(text, `${origin}${SERVER}`)))
    return own
  }

  /** What an agent needs besides the base URL and a token. @param url the public URL */
  async llmsText(url: string): Promise<PublicText> {
    const { createLlmsText } = await llmsModule()
    return publicText('text/plain; charset=utf-8', createLlmsText(await this.document(), url))
  }

  #make(): Promise<Made> {
    const source = this.#source()
    if (this.#made === undefined || this.#madeFor !== source.engine.hash) {
      this.#madeFor = source.engine.hash
      this.#made = this.#create(source)
    }
    return this.#made
  }

  async #create(source: DocumentSource): Promise<Made> {
    const { createDocument } = await documentModule()
    const document = createDocument(source)
    const text = publicText('application/json; charset=utf-8', JSON.stringify(document))
    return { document, text, byOrigin: new LRUCache({ maxSize: ORIGINS, sizeCalculation: () => 1 }) }
  }
}

/** The text with another server. It is not serialized and hashed again: anybody can ask for it under any name. */
function withServer({ text, revision, ...others }: PublicText, url: string): PublicText {
  const own = text.replace(`"url":"${SERVER}"`, () => `"url":${JSON.stringify(url)}`)
  return { ...others, text: own, revision: sha256Hex(`${revision} ${url}`) }
}
