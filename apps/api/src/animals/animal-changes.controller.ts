import { ChangeAnimal, WithdrawAnimal } from '@adoption-store/domain';
import { Controller, Delete, HttpCode, Param, Patch, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { IfMatch } from '../http/conditions.js';
import { JsonBody, MERGE_PATCH } from '../http/json-body.decorator.js';
import { pathId } from '../http/validation.js';
import { RequiresScope } from '../http/required-scope.js';
import { Stability } from '../http/stability.js';
import { AnimalPatchBody } from './animal-patch.body.js';
import { animalTag, presentAnimal } from './present-animal.js';

const PET_ID = pathId('petId');

/** The operations on a stored animal. They stay when `GET /v1/pets/{petId}` is removed. */
@Controller('v1/pets/:petId')
@Stability('beta')
export class AnimalChangesController {
  constructor(
    private readonly changeAnimal: ChangeAnimal,
    private readonly withdrawAnimal: WithdrawAnimal,
  ) {}

  @Patch()
  @RequiresScope('pets:write')
  async change(
    @Param('petId', PET_ID) id: bigint,
    @JsonBody(AnimalPatchBody, MERGE_PATCH) change: AnimalPatchBody,
    @IfMatch() versions: readonly string[] | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const animal = await this.changeAnimal.execute({ id, change, versions });
    reply.header('etag', animalTag(animal));
    return presentAnimal(animal);
  }

  @Delete()
  @RequiresScope('pets:write')
  @HttpCode(204)
  async withdraw(
    @Param('petId', PET_ID) id: bigint,
    @IfMatch() versions: readonly string[] | undefined,
  ): Promise<void> {
    await this.withdrawAnimal.execute({ id, versions });
  }
}
